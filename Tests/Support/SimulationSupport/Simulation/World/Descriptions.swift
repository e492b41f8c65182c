import CloudProtocol
import Records
import SyncMachine

/// Descriptions for the trace and its hash: two runs of one seed must have the same.

extension RecordID {
  var path: String { "\(zone.name)/\(name)" }
}

extension Record {
  fileprivate var summary: String {
    let edit = fields["sequence"].map { " \($0.value)" } ?? ""
    return "\(id.path)@\(changeTag?.rawValue ?? "")\(edit)"
  }
}

extension CloudRequest {
  var summary: String {
    switch self {
    case .fetchCurrentUser: "who is signed in"
    case .fetchDatabaseChanges(let request):
      "for zones \(request.since == nil ? "from the start" : "since a token")"
    case .fetchZoneChanges(let request):
      "for \(request.zone.name) \(request.since == nil ? "from the start" : "since a token")"
    case .fetchZones: "for zones"
    case .modifyZones(let request):
      "to save \(request.save.map(\.name)) and delete \(request.delete.map(\.name))"
    case .fetchRecords: "for records"
    case .modifyRecords(let request):
      "to save "
        + request.save.map { "\($0.id.path)@\($0.changeTag?.rawValue ?? "new")" }.description
        + " and delete \(request.delete.map(\.path))" + (request.isAtomic ? " at once" : "")
    case .fetchSubscriptions: "for subscriptions"
    case .modifySubscriptions: "for a subscription"
    case .queryRecords(let request): "for records of type \(request.query.recordType)"
    case .resolveShares: "what shares there are"
    case .acceptShares: "to join shares"
    case .findUsers: "for people"
    case .uploadAsset: "to keep a file"
    case .downloadAsset: "for a file"
    }
  }
}

extension Result where Success == CloudReply, Failure == CloudError {
  var summary: String {
    switch self {
    case .failure(let error):
      "\(error.code)" + (error.retryAfter.map { " wait \($0) s" } ?? "")
    case .success(let reply): reply.summary
    }
  }
}

extension CloudReply {
  var summary: String {
    switch self {
    case .currentUser: "a user"
    case .databaseChanges(let page):
      "zones \(page.modified.map(\.name)), gone "
        + "\(page.deleted.map { "\($0.zone.name) (\($0.reason))" })"
        + "\(page.moreComing ? ", more" : "")"
    case .zoneChanges(let page):
      "records \(page.modified.map(\.summary)), gone "
        + "\(page.deleted.map(\.id.path))\(page.moreComing ? ", more" : "")"
    case .zonesModified(let saved, let deleted):
      "zones saved \(saved.map { $0.summary(\.name) }), "
        + "deleted \(deleted.map { $0.summary(\.name) })"
    case .recordsModified(let saved, let deleted):
      "saved \(saved.map { $0.summary(\.path) { "@" + ($0.changeTag?.rawValue ?? "") } }), "
        + "deleted \(deleted.map { $0.summary(\.path) })"
    case .zones, .records, .subscriptions, .subscriptionsModified, .queried, .sharesResolved,
      .sharesAccepted, .usersFound, .assetUploaded, .assetContent:
      "done"
    }
  }
}

extension ItemResult {
  fileprivate func summary(
    _ name: (ID) -> String, _ success: (Value) -> String = { _ in "" }
  ) -> String {
    switch outcome {
    case .success(let value): "\(name(id)) ok\(success(value))"
    case .failure(let error): "\(name(id)) \(error.code)"
    }
  }
}

extension Instruction {
  var summary: String {
    switch self {
    case .deliver(let event): event.summary
    case .askForBatch: "asks for a batch"
    case .askForFetchOptions: "asks for options"
    case .send(let request): "sends \(request.requestID)"
    case .abandon(let token): "gives request \(token.number) up"
    case .finish(let waiters, let outcome):
      "ends for \(waiters.map(\.number)): \(outcome.summary)"
    case .wait(let moment): moment.map { "waits until \($0.sinceStart)" } ?? "waits"
    }
  }
}

extension OperationOutcome {
  fileprivate var summary: String {
    switch self {
    case .success: "success"
    case .failure(let failure): "\(failure.error.code)"
    }
  }
}

extension SyncEvent {
  var summary: String {
    switch self {
    case .stateUpdate: "stateUpdate"
    case .accountChange(let change): "accountChange \(change)"
    case .willFetchChanges(let context): "willFetchChanges \(context.reason)"
    case .fetchedDatabaseChanges(let modified, let deleted):
      "fetchedDatabaseChanges \(modified.map(\.name)), gone \(deleted.map(\.zone.name))"
    case .willFetchZoneChanges(let zone, let startsOver):
      "willFetchZoneChanges \(zone.name)\(startsOver ? " from the start" : "")"
    case .fetchedZoneChanges(let modified, let deleted):
      "fetchedZoneChanges \(modified.map(\.summary)), gone \(deleted.map(\.id.path))"
    case .didFetchZoneChanges(let zone, let error):
      "didFetchZoneChanges \(zone.name)" + (error.map { " \($0.code)" } ?? "")
    case .didFetchChanges: "didFetchChanges"
    case .willSendChanges(let context): "willSendChanges \(context.reason)"
    case .sentDatabaseChanges(let sent):
      "sentDatabaseChanges "
        + CloudReply.zonesModified(saved: sent.saved, deleted: sent.deleted).summary
    case .sentRecordChanges(let sent):
      "sentRecordChanges "
        + CloudReply.recordsModified(saved: sent.saved, deleted: sent.deleted).summary
    case .didSendChanges: "didSendChanges"
    }
  }
}
