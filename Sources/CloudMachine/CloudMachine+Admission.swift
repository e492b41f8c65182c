import CloudProtocol
import Records

extension CloudMachine {
  /// Admits a call: finds its account and resolves the names in its request.
  ///
  /// All rules work with the names resolved here; see `AdmittedCall`. A read plan, which storages
  /// ask for before the account is read, resolves its copy of the request separately.
  func admit(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> AdmittedCall {
    let account = try account(of: call, from: caller, in: storage)
    let context = RequestContext(
      storage: storage, limits: limits,
      database: DatabaseID(
        container: call.container, environment: call.environment, scope: call.database,
        owner: call.database == .public ? nil : account?.user),
      account: account, device: caller.device, now: now)
    return AdmittedCall(
      original: call, caller: caller, request: context.resolved(call.request), context: context)
  }

  /// Looks for the receipt of an admitted call and carries the call out.
  func decide(_ call: AdmittedCall) throws -> CloudStep {
    let context = call.context
    guard call.request.isMutation, let account = context.account else { return try read(call) }
    let key = ReceiptKey(
      user: account.user, device: call.caller.device, requestID: call.original.requestID)
    if call.caller.choseRequestID, let receipt = try context.storage.receipt(key) {
      guard let reply = receipt.reply(to: call) else {
        throw Refusal(CloudError.reused(call.request))
      }
      return call.answered(reply)
    }
    var (reply, transaction) = try modify(
      call.request, context, requestID: call.original.requestID)
    // All reads come before the commit, so a storage need not show uncommitted changes to this
    // request.
    let pushes = try pushes(for: &transaction, context)
    try transaction.commit(to: context.storage)
    if call.caller.choseRequestID {
      // Separately, because a storage may apply the changes while the digest is computed.
      try context.storage.commit([
        .putReceipt(Receipt(key, of: call, reply: reply), keeping: limits.receiptsKept)
      ])
    }
    return call.answered(reply, pushes: pushes, changed: transaction.changedDatabases)
  }

  /// The account a call is for, `nil` for a public read without one.
  ///
  /// Rules: CS-52, CS-150 and CS-174, scenarios `noAccount` and `accountTemporarilyAvailable`;
  /// Docs/Decisions/0015.
  private func account(
    of call: CloudCall, from caller: Caller, in storage: any CloudStorage
  ) throws -> AccountRow? {
    let container = call.container.utf8
    guard !container.isEmpty, container.count <= limits.nameLength,
      container.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw Refusal(.badContainer, "a container ID needs 1 to 255 printable ASCII characters")
    }
    if let expected = call.expectedUser, expected != caller.user {
      throw Refusal(.notAuthenticated, "another account, or none, is signed in now")
    }
    if call.request.isMutation {
      guard !call.requestID.isEmpty, call.requestID.utf8.count <= limits.nameLength else {
        throw Refusal(.invalidArguments, "a request ID needs 1 to 255 characters")
      }
    }
    let account = try caller.user.flatMap { try storage.account($0) }
    if call.database == .public, call.request.isPublicRead { return account }
    switch caller.availability {
    case .available: break
    case .temporarilyUnavailable:
      throw Refusal(
        .accountTemporarilyUnavailable,
        "the account is not ready; wait for the account to change, or ask the user to verify it")
    case .restricted:
      throw Refusal(
        CloudError(
          .notAuthenticated,
          "an administrator or a parent restricts the account; wait for the account to change",
          accountObstacle: .restricted))
    case .couldNotDetermine:
      throw Refusal(
        CloudError(
          .notAuthenticated,
          "the status of the account could not be determined; wait for the account to change",
          accountObstacle: .undetermined))
    }
    guard let account else { throw Refusal(.notAuthenticated, "no account is signed in") }
    return account
  }

  /// Answers a read, or starts a query.
  private func read(_ call: AdmittedCall) throws -> CloudStep {
    if case .queryRecords(let request) = call.request {
      return .querying(try scan(request, of: call))
    }
    return call.answered(try reply(to: call.request, call.context))
  }

  private func reply(to request: CloudRequest, _ context: RequestContext) throws -> CloudReply {
    switch request {
    case .fetchCurrentUser:
      guard let account = context.account else {
        throw Refusal(.notAuthenticated, "no account is signed in")
      }
      return .currentUser(account.user)
    case .fetchDatabaseChanges(let request): return try databaseChanges(request, context)
    case .fetchZoneChanges(let request): return try zoneChanges(request, context)
    case .fetchZones(let zones): return try fetchZones(zones, context)
    case .fetchRecords(let request): return try fetchRecords(request, context)
    case .fetchSubscriptions(let ids): return try fetchSubscriptions(ids, context)
    case .queryRecords: throw Refusal(.internalError, "a query came where one answer was meant")
    case .resolveShares(let request): return try resolveShares(request, context)
    case .findUsers(let lookups): return try findUsers(lookups, context)
    case .downloadAsset(let request): return try downloadAsset(request, context)
    case .modifyZones, .modifyRecords, .modifySubscriptions, .acceptShares, .uploadAsset:
      throw Refusal(.notAuthenticated, "no account is signed in")
    }
  }

  private func modify(
    _ request: CloudRequest, _ context: RequestContext, requestID: String
  ) throws -> (CloudReply, WriteTransaction) {
    switch request {
    case .modifyZones(let request): return try modifyZones(request, context)
    case .modifyRecords(let request): return try modifyRecords(request, context)
    case .modifySubscriptions(let request):
      let (reply, changeSet) = try modifySubscriptions(request, context)
      return (reply, WriteTransaction(changeSet))
    case .acceptShares(let urls): return try acceptShares(urls, context)
    case .uploadAsset(let request):
      return try uploadAsset(request, context, requestID: requestID)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      throw Refusal(.internalError, "a read came where a change was meant")
    }
  }
}

/// A call that was admitted, with the names in its request resolved.
///
/// Rules use `request`, in which the requester's zones have the owner `ZoneID.currentOwner`.
/// Replies are converted to the spelling of the original request by
/// `answered(_:pushes:changed:)`, and those of queries by `QueryScan`.
struct AdmittedCall {
  /// The call as it came.
  let original: CloudCall
  /// The device and account that sent it.
  let caller: Caller
  /// The request in the spelling of rows.
  let request: CloudRequest
  /// The requester, database, time and storage.
  let context: RequestContext

  /// The step that ends the call with `reply`, which is in the spelling of rows.
  func answered(
    _ reply: CloudReply, pushes: [OutgoingPush] = [], changed: [ChangedDatabase] = []
  ) -> CloudStep {
    let reply = ReplySpelling(user: context.account?.user).respelled(reply, for: original.request)
    return .answered(CloudAnswer(result: .success(reply), pushes: pushes, changed: changed))
  }
}

extension CloudError {
  /// The error of a request whose ID was used for another request.
  fileprivate static func reused(_ request: CloudRequest) -> CloudError {
    if case .uploadAsset = request {
      return CloudError(
        .invalidArguments,
        "this upload was made before with another file: each file needs an upload of its own, "
          + "with a new URL from assets/upload")
    }
    return CloudError(
      .invalidArguments,
      "this request ID was used for a request with other content; send this one under a new ID")
  }
}

extension CloudRequest {
  /// Whether the public database answers the request without an account.
  fileprivate var isPublicRead: Bool {
    switch self {
    case .fetchRecords, .fetchZones, .fetchZoneChanges, .fetchDatabaseChanges, .queryRecords,
      .downloadAsset:
      true
    case .fetchCurrentUser, .fetchSubscriptions, .modifyZones, .modifyRecords,
      .modifySubscriptions, .resolveShares, .acceptShares, .findUsers, .uploadAsset:
      false
    }
  }
}
