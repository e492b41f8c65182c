public import CloudSync
import Foundation
import Records
import StateInspection
import SyncMachine

/// Something with one canonical text: the same for the same content, in every run and on every
/// machine.
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
  /// What is to happen to which record.
  public var snapshotText: String {
    switch self {
    case .saveRecord(let id): "save \(CanonicalText.record(id))"
    case .deleteRecord(let id): "delete \(CanonicalText.record(id))"
    }
  }
}

extension CKSyncEngine.PendingDatabaseChange: Snapshotable {
  /// What is to happen to which zone.
  public var snapshotText: String {
    switch self {
    case .saveZone(let zone): "save zone \(CanonicalText.zone(zone.zoneID))"
    case .deleteZone(let id): "delete zone \(CanonicalText.zone(id))"
    }
  }
}

extension CKSyncEngine.State: Snapshotable {
  /// What waits: zone changes, then record changes, each in the order they are sent in.
  public var snapshotText: String {
    var lines = pendingDatabaseChanges.map(\.snapshotText)
    lines += pendingRecordZoneChanges.map(\.snapshotText)
    if hasPendingUntrackedChanges { lines.append("changes that the app does not list") }
    return lines.isEmpty ? "nothing waits" : lines.joined(separator: "\n")
  }
}

extension RecordedEvents: Snapshotable {
  /// All callbacks but state updates, as lines.
  public var snapshotText: String {
    all.filter { $0.name != "stateUpdate" }.map(\.text).joined(separator: "\n")
  }
}

extension CKSyncEngine.State.Serialization: Snapshotable {
  /// The account, how far was read, and what waits; without the bytes of tokens.
  public var snapshotText: String {
    guard let data = try? JSONEncoder().encode(self),
      let state = try? StateInspection(bytes: Array(data)).state
    else { return "a state that can't be read" }
    var lines = ["account: \(state.user?.rawValue ?? "none")"]
    if state.unannounced != nil { lines.append("the app may not have been told of the account") }
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
