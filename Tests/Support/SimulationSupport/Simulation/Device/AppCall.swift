import CloudProtocol
import Records
import SyncMachine

/// A record or a zone that a pending change is about.
enum PendingItem: Hashable, Comparable, Sendable {
  case record(RecordID)
  case zone(ZoneID)

  /// The name in messages.
  var name: String {
    switch self {
    case .record(let id): id.path
    case .zone(let id): id.name
    }
  }
}

/// A call of the app on the engine's state.
enum AppCall: Hashable, Sendable {
  case add(ChangeKind, PendingItem)
  case remove(ChangeKind, PendingItem)
  case noteUntracked

  /// The record or zone that the call is about.
  var item: PendingItem? {
    switch self {
    case .add(_, let item), .remove(_, let item): item
    case .noteUntracked: nil
    }
  }
}

/// The outcome of a change that an app is told: its error, or `nil` for success.
typealias ChangeOutcome = (item: PendingItem, error: CloudError?)

extension SentRecords {
  var outcomes: [ChangeOutcome] {
    saved.map { (.record($0.id), $0.error) } + deleted.map { (.record($0.id), $0.error) }
  }
}

extension SentZones {
  var outcomes: [ChangeOutcome] {
    saved.map { (.zone($0.id), $0.error) } + deleted.map { (.zone($0.id), $0.error) }
  }
}

extension SyncState {
  /// The change of `item` that is pending or under way.
  func unsettledKind(of item: PendingItem) -> ChangeKind? {
    switch item {
    case .record(let id): records.unsettledKind(of: id)
    case .zone(let id): zones.unsettledKind(of: id)
    }
  }

  /// The change of `item` that is pending and not under way.
  func waitingKind(of item: PendingItem) -> ChangeKind? {
    switch item {
    case .record(let id): records.pending(for: id)
    case .zone(let id): zones.pending(for: id)
    }
  }
}
