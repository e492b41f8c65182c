public import CloudSync
import Records
import SyncMachine

/// A type with a canonical text, which depends only on the content of a value, not on the run or
/// the machine.
public protocol Snapshotable {
  /// The text, in lines.
  var snapshotText: String { get }
}

extension String: Snapshotable {
  /// Itself.
  public var snapshotText: String { self }
}

extension Array: Snapshotable where Element: Snapshotable {
  /// The elements' texts, one after the other.
  public var snapshotText: String { map(\.snapshotText).joined(separator: "\n") }
}

extension CKSyncEngine.PendingRecordZoneChange: Snapshotable {
  /// The change and its record.
  public var snapshotText: String {
    switch self {
    case .saveRecord(let id): "save \(CanonicalText.record(id))"
    case .deleteRecord(let id): "delete \(CanonicalText.record(id))"
    }
  }
}

extension CKSyncEngine.PendingDatabaseChange: Snapshotable {
  /// The change and its zone.
  public var snapshotText: String {
    switch self {
    case .saveZone(let zone): "save zone \(CanonicalText.zone(zone.zoneID))"
    case .deleteZone(let id): "delete zone \(CanonicalText.zone(id))"
    }
  }
}

extension CKSyncEngine.State: Snapshotable {
  /// The pending changes: zone changes, then record changes, in the order of sending.
  public var snapshotText: String {
    var lines = pendingDatabaseChanges.map(\.snapshotText)
    lines += pendingRecordZoneChanges.map(\.snapshotText)
    if hasPendingUntrackedChanges { lines.append("changes that the app does not list") }
    return lines.isEmpty ? "nothing waits" : lines.joined(separator: "\n")
  }
}

extension RecordedEvents: Snapshotable, CustomStringConvertible {
  /// All recorded calls except state updates, as lines.
  public var snapshotText: String {
    all.filter { $0.name != "stateUpdate" }.map(\.text).joined(separator: "\n")
  }

  /// The text of the snapshot.
  public var description: String { snapshotText }
}

extension CKSyncEngine.State.Serialization: Snapshotable {
  /// The account, the tokens without their bytes, and the pending changes.
  public var snapshotText: String {
    let state = value
    var lines = ["account: \(state.user?.rawValue ?? "none")"]
    if state.unannounced != nil { lines.append("the app may not have received the account change") }
    lines.append("database: \(state.databaseToken == nil ? "never read" : "read")")
    lines += state.zoneTokens.keys.sorted().map { "zone \(CanonicalText.zone($0)): read" }
    lines += state.changedZones.map { "zone \(CanonicalText.zone($0)): has news" }
    lines += state.expiredZones.sorted().map { "zone \(CanonicalText.zone($0)): starts over" }
    if state.needsFetch { lines.append("fetches before the next send") }
    if state.hasUntrackedChanges { lines.append("changes that the app does not list") }
    if let subscription = state.subscription {
      lines.append("subscription: \(CanonicalText.part(subscription.rawValue))")
    }
    lines += state.zones.unsettled.map { "\($0.kind) zone \(CanonicalText.zone($0.id))" }
    lines += state.records.unsettled.map { "\($0.kind) \(CanonicalText.record($0.id))" }
    return lines.joined(separator: "\n")
  }
}
