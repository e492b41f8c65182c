import CloudProtocol
import Records

extension CloudMachine {
  /// Admits or rejects a call, looks for a receipt, and carries it out.
  func decide(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> CloudStep {
    let account = try admit(call, from: caller, in: storage)
    let context = RequestContext(
      storage: storage, limits: limits,
      database: DatabaseID(
        container: call.container, environment: call.environment, scope: call.database,
        owner: call.database == .public ? nil : account?.user),
      account: account, device: caller.device, now: now)
    let request = context.resolved(call.request)
    guard call.request.isMutation, let account else {
      return try read(request, as: call.request, context)
    }
    let key = ReceiptKey(
      user: account.user, device: caller.device, requestID: call.requestID)
    let digest = call.digest
    if let receipt = try storage.receipt(key) {
      guard receipt.digest ?? digest == digest, receipt.reply.answers(call.request) else {
        throw Refusal(
          .invalidArguments,
          "this request ID was used for a request with other content; send this one under a new ID")
      }
      return .answered(
        CloudAnswer(result: .success(context.wording.respelled(receipt.reply, for: call.request))))
    }
    var (reply, transaction) = try modify(request, context, requestID: call.requestID)
    // All reads come before the commit, so a storage need not show uncommitted changes to this
    // request.
    let pushes = try pushes(for: &transaction, context)
    try transaction.commit(
      to: storage,
      receipt: .putReceipt(
        Receipt(key: key, reply: reply, digest: digest), keeping: limits.receiptsKept))
    return .answered(
      CloudAnswer(
        result: .success(context.wording.respelled(reply, for: call.request)), pushes: pushes,
        changed: transaction.changeSets.map(\.database.id)))
  }

  /// The account a call is for, `nil` for a public read without one.
  ///
  /// Sources: cloudkit-surface 1.6 and 2.6, scenarios `noAccount` and
  /// `accountTemporarilyAvailable`; Docs/Decisions/0015.
  private func admit(
    _ call: CloudCall, from caller: Caller, in storage: any CloudStorage
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

  /// Starts answering `request`; the reply uses the spelling of the original request `asked`.
  private func read(
    _ request: CloudRequest, as asked: CloudRequest, _ context: RequestContext
  ) throws -> CloudStep {
    if case .queryRecords(let request) = request {
      return .querying(try scan(request, as: asked, context))
    }
    let reply = try reply(to: request, context)
    return .answered(CloudAnswer(result: .success(context.wording.respelled(reply, for: asked))))
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
      let (reply, changeSet) = try uploadAsset(request, context, requestID: requestID)
      return (reply, WriteTransaction(changeSet))
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      throw Refusal(.internalError, "a read came where a change was meant")
    }
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

extension CloudReply {
  /// Whether the reply matches `request`, with a result for each of its items.
  fileprivate func answers(_ request: CloudRequest) -> Bool {
    switch (self, request) {
    case (.zonesModified(let saved, let deleted), .modifyZones(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.recordsModified(let saved, let deleted), .modifyRecords(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.subscriptionsModified(let saved, let deleted), .modifySubscriptions(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.sharesAccepted(let results), .acceptShares(let urls)): results.count == urls.count
    case (.assetUploaded(let asset), .uploadAsset(let request)):
      asset.size == request.content.count
        && asset.checksum == SHA256.hexadecimal(of: request.content)
    case (.zonesModified, _), (.recordsModified, _), (.subscriptionsModified, _),
      (.currentUser, _), (.databaseChanges, _), (.zoneChanges, _), (.zones, _), (.records, _),
      (.subscriptions, _), (.queried, _), (.sharesResolved, _), (.sharesAccepted, _),
      (.usersFound, _), (.assetUploaded, _), (.assetContent, _):
      false
    }
  }
}
