import CloudProtocol
import SyncMachine
import Synchronization

extension Duration {
  /// The time in seconds, to a millionth.
  var roundedSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + (Double(attoseconds) / 1e12).rounded() / 1e6
  }
}

extension EngineDriver {
  /// Records an entry if there is a tracer; otherwise the entry is not created.
  func trace(_ entry: (_ time: Double) -> SyncTraceEntry) {
    guard let tracer else { return }
    tracer.record(entry(clock.now().sinceStart.roundedSeconds))
  }

  /// Records an entry with its duration since `start`.
  func trace(
    _ kind: SyncTraceEntry.Kind, _ name: String, _ counts: [String: Int], since start: Moment?
  ) {
    guard let start else { return }
    trace { time in
      SyncTraceEntry(
        time: time, kind: kind, name: name, counts: counts.isEmpty ? nil : counts,
        duration: max(0, time - start.sinceStart.roundedSeconds))
    }
  }

  /// The current time if there is a tracer, to measure a duration.
  var traceStart: Moment? { tracer == nil ? nil : clock.now() }

  /// Records that the app added or removed changes.
  func trace(_ name: String, changes count: Int) {
    trace { SyncTraceEntry(time: $0, kind: .change, name: name, counts: ["changes": count]) }
  }

  /// Records the machine's transitions.
  func trace(_ transitions: [Transition]) {
    for transition in transitions {
      trace { SyncTraceEntry(time: $0, kind: .stage, name: transition.to.rawValue) }
    }
  }

  /// Records the reason for waiting, if it differs from the last one.
  func traceWait(_ deadline: Moment?, _ last: inout SyncStatus.Wait?) {
    guard tracer != nil else { return }
    let now = clock.now()
    let wait = core.withLock { $0.machine.status(now: now).wait }
    guard let wait, wait != last else { return }
    last = wait
    trace {
      SyncTraceEntry(
        time: $0, kind: .wait, name: wait.reason.rawValue,
        until: wait.until?.sinceStart.roundedSeconds)
    }
  }

  /// Records a request.
  func trace(_ request: OutgoingRequest) {
    trace {
      SyncTraceEntry(
        time: $0, kind: .request, name: request.request.name, request: request.token.number,
        counts: request.request.tracedCounts)
    }
  }

  /// Records the result of a request.
  func trace(
    _ answer: Result<CloudReply, CloudError>, to request: OutgoingRequest, since start: Moment?
  ) {
    guard let start else { return }
    trace { time in
      var entry = SyncTraceEntry(
        time: time, kind: .answer, name: request.request.name,
        request: request.token.number,
        duration: max(0, time - start.sinceStart.roundedSeconds))
      switch answer {
      case .success(let reply): entry.counts = reply.tracedCounts
      case .failure(let error): entry.error = "\(error.code)"
      }
      return entry
    }
  }
}

extension SyncEvent {
  /// The name of the event in the API, and the numbers of its items.
  var traced: (name: String, counts: [String: Int]) {
    switch self {
    case .stateUpdate: ("stateUpdate", [:])
    case .accountChange: ("accountChange", [:])
    case .willFetchChanges: ("willFetchChanges", [:])
    case .fetchedDatabaseChanges(let modified, let deleted):
      ("fetchedDatabaseChanges", ["modified": modified.count, "deleted": deleted.count])
    case .willFetchZoneChanges(_, let startsOver):
      ("willFetchRecordZoneChanges", startsOver ? ["startsOver": 1] : [:])
    case .fetchedZoneChanges(let modified, let deleted):
      ("fetchedRecordZoneChanges", ["modified": modified.count, "deleted": deleted.count])
    case .didFetchZoneChanges(_, let error):
      ("didFetchRecordZoneChanges", error == nil ? [:] : ["failed": 1])
    case .didFetchChanges: ("didFetchChanges", [:])
    case .willSendChanges: ("willSendChanges", [:])
    case .sentDatabaseChanges(let sent):
      ("sentDatabaseChanges", itemCounts(sent.saved, sent.deleted))
    case .sentRecordChanges(let sent):
      ("sentRecordZoneChanges", itemCounts(sent.saved, sent.deleted))
    case .didSendChanges: ("didSendChanges", [:])
    }
  }
}

/// The numbers of saved, deleted and failed items.
private func itemCounts<ID, Saved, Deleted>(
  _ saved: [ItemResult<ID, Saved>], _ deleted: [ItemResult<ID, Deleted>]
) -> [String: Int] {
  let savedCount = saved.count { $0.error == nil }
  let deletedCount = deleted.count { $0.error == nil }
  let failed = saved.count + deleted.count - savedCount - deletedCount
  return ["saved": savedCount, "deleted": deletedCount, "failed": failed]
}

extension CloudRequest {
  /// The numbers of items in the request, for requests of an engine.
  fileprivate var tracedCounts: [String: Int]? {
    switch self {
    case .fetchZones(let zones): zones.map { ["zones": $0.count] }
    case .modifyZones(let request):
      ["save": request.save.count, "delete": request.delete.count]
    case .modifyRecords(let request):
      ["save": request.save.count, "delete": request.delete.count]
    default: nil
    }
  }
}

extension CloudReply {
  /// The numbers of items in the reply, for requests of an engine.
  fileprivate var tracedCounts: [String: Int]? {
    switch self {
    case .databaseChanges(let page):
      ["modified": page.modified.count, "deleted": page.deleted.count]
    case .zoneChanges(let page):
      ["modified": page.modified.count, "deleted": page.deleted.count]
    case .zonesModified(let saved, let deleted): itemCounts(saved, deleted)
    case .recordsModified(let saved, let deleted): itemCounts(saved, deleted)
    default: nil
    }
  }
}
