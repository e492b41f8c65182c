import CloudProtocol
import Records

extension CloudMachine {
  /// Lets a call in or refuses it, looks for a remembered answer, and has it done.
  func decide(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> CloudAnswer {
    let account = try admit(call, from: caller, in: storage)
    let context = RequestContext(
      storage: storage, limits: limits, plantedBugs: plantedBugs,
      database: DatabaseID(
        container: call.container, environment: call.environment, scope: call.database,
        owner: call.database == .public ? nil : account?.user),
      account: account, device: caller.device, now: now)
    let request = context.resolved(call.request)
    guard call.request.isMutation, let account else {
      let reply = try read(request, context)
      return CloudAnswer(result: .success(context.worded(reply, for: call.request)))
    }
    let key = ReceiptKey(
      user: account.user, device: caller.device, requestID: call.requestID)
    if let receipt = try storage.receipt(key) {
      guard receipt.reply.answers(call.request) else {
        throw Refusal(.invalidArguments, "this request ID belongs to another request")
      }
      return CloudAnswer(result: .success(context.worded(receipt.reply, for: call.request)))
    }
    var (reply, books) = try modify(request, context, requestID: call.requestID)
    // Everything is read before the commit, so that no storage has to show it to this request.
    let pushes = try pushes(for: &books, context)
    try books.commit(
      to: storage,
      receipt: .putReceipt(Receipt(key: key, reply: reply), keeping: limits.receiptsKept))
    return CloudAnswer(
      result: .success(context.worded(reply, for: call.request)), pushes: pushes,
      changed: books.ledgers.map(\.database.id))
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

  private func read(_ request: CloudRequest, _ context: RequestContext) throws -> CloudReply {
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
    case .queryRecords(let request): return try queryRecords(request, context)
    case .resolveShares(let request): return try resolveShares(request, context)
    case .findUsers(let lookups): return try findUsers(lookups, context)
    case .downloadAsset(let request): return try downloadAsset(request, context)
    case .modifyZones, .modifyRecords, .modifySubscriptions, .acceptShares, .uploadAsset:
      throw Refusal(.notAuthenticated, "no account is signed in")
    }
  }

  private func modify(
    _ request: CloudRequest, _ context: RequestContext, requestID: String
  ) throws -> (CloudReply, Books) {
    switch request {
    case .modifyZones(let request): return try modifyZones(request, context)
    case .modifyRecords(let request): return try modifyRecords(request, context)
    case .modifySubscriptions(let request):
      let (reply, ledger) = try modifySubscriptions(request, context)
      return (reply, Books(ledger))
    case .acceptShares(let urls): return try acceptShares(urls, context)
    case .uploadAsset(let request):
      let (reply, ledger) = try uploadAsset(request, context, requestID: requestID)
      return (reply, Books(ledger))
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      throw Refusal(.internalError, "a read came where a change was meant")
    }
  }
}

extension CloudRequest {
  /// Whether the public database answers it to anyone.
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
  /// Whether this is the kind of answer `request` gets, with a result for each of its items.
  fileprivate func answers(_ request: CloudRequest) -> Bool {
    switch (self, request) {
    case (.zonesModified(let saved, let deleted), .modifyZones(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.recordsModified(let saved, let deleted), .modifyRecords(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.subscriptionsModified(let saved, let deleted), .modifySubscriptions(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.sharesAccepted(let results), .acceptShares(let urls)): results.count == urls.count
    case (.assetUploaded, .uploadAsset): true
    case (.zonesModified, _), (.recordsModified, _), (.subscriptionsModified, _),
      (.currentUser, _), (.databaseChanges, _), (.zoneChanges, _), (.zones, _), (.records, _),
      (.subscriptions, _), (.queried, _), (.sharesResolved, _), (.sharesAccepted, _),
      (.usersFound, _), (.assetUploaded, _), (.assetContent, _):
      false
    }
  }
}
