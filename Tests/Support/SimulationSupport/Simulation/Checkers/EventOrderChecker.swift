import CloudProtocol
import Records
import SyncMachine

/// I14: events come one at a time, will and did in pairs, and nothing outside its operation.
struct EventOrderChecker {
  private enum Operation { case none, fetch, send }

  private var operation = Operation.none
  private var zone: ZoneID?

  /// Why `event` must not come now; `nil` when it may.
  mutating func fault(_ event: SyncEvent) -> String? {
    switch event {
    case .stateUpdate: return nil
    case .accountChange: return operation == .none ? nil : "an account event within an operation"
    case .willFetchChanges: return open(.fetch)
    case .willSendChanges: return open(.send)
    case .didFetchChanges: return close(.fetch)
    case .didSendChanges: return close(.send)
    case .fetchedDatabaseChanges(let modified, let deleted):
      if modified.isEmpty, deleted.isEmpty { return "fetchedDatabaseChanges without a change" }
      return operation == .fetch && zone == nil ? nil : "fetchedDatabaseChanges out of place"
    case .willFetchZoneChanges(let id, _):
      guard operation == .fetch, zone == nil else { return "willFetchZoneChanges out of place" }
      zone = id
      return nil
    case .fetchedZoneChanges(let modified, let deleted):
      guard operation == .fetch, let zone else { return "fetchedZoneChanges without its will" }
      let isOfZone =
        modified.allSatisfy { $0.id.zone == zone } && deleted.allSatisfy { $0.id.zone == zone }
      return isOfZone ? nil : "fetchedZoneChanges with a record of another zone"
    case .didFetchZoneChanges(let id, _):
      guard zone == id else { return "didFetchZoneChanges without its will" }
      zone = nil
      return nil
    case .sentDatabaseChanges, .sentRecordChanges:
      return operation == .send ? nil : "a sent event outside a send"
    }
  }

  private mutating func open(_ next: Operation) -> String? {
    guard operation == .none, zone == nil else { return "an operation begins within another" }
    operation = next
    return nil
  }

  private mutating func close(_ ended: Operation) -> String? {
    guard operation == ended, zone == nil else { return "an operation ends that is not open" }
    operation = .none
    return nil
  }
}
