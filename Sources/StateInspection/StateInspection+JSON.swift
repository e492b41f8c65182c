import CloudSync
import Foundation
import Records
import SyncMachine

extension StateInspection {
  /// Everything in the state as indented JSON with sorted members: the same for the same file.
  ///
  /// Changes stand in the order they are sent, tokens are in hexadecimal digits with their size. A
  /// zone's `owner` is there only when it is another user. `isUnchecked` is there only where it is
  /// true. The file's name is left out, so that two files can be compared.
  package var json: String { StatePage(self).jsonText(.prettyPrinted) }
}

extension StateDifference {
  /// Differences as an indented JSON list with sorted members: `change`, `what`, and `old` or `new`
  /// where there is one.
  package static func json(_ differences: [StateDifference]) -> String {
    differences.map(DifferencePage.init).jsonText(.prettyPrinted)
  }
}

private struct DifferencePage: Encodable {
  var change: String
  var what: String
  var old: String?
  var new: String?

  init(_ difference: StateDifference) {
    what = difference.what
    switch difference.kind {
    case .added(let value): (change, new) = ("added", value)
    case .removed(let value): (change, old) = ("removed", value)
    case .changed(let before, let after): (change, old, new) = ("changed", before, after)
    }
  }
}

/// A state and its file as JSON.
private struct StatePage: Encodable {
  struct File: Encodable {
    var bytes: Int
    var kind: String
    var carriers: [String]?
    var member: String?
    var logFormatVersion: Int?
    var snapshotBytes: Int?
    var entries: Int?
    var steps: Int?
    var unfinishedBytes: Int?
  }

  struct Account: Encodable {
    var user: String?
    var appHasBeenTold: Bool
    var previousUser: String?
  }

  struct Token: Encodable {
    var bytes: Int
    var hex: String

    init(_ token: ChangeToken) {
      bytes = token.bytes.count
      hex = token.bytes.hexadecimal
    }
  }

  struct Zone: Encodable {
    var zone: String
    var owner: String?
    var token: Token?

    init(_ id: ZoneID, token: ChangeToken? = nil) {
      zone = id.name
      owner = id.owner == ZoneID.currentOwner ? nil : id.owner
      self.token = token.map(Token.init)
    }
  }

  struct Change: Encodable {
    var change: String
    var zone: String
    var owner: String?
    var record: String?

    init(_ change: PendingChange<ZoneID>) { self.init(change.kind, change.id) }

    init(_ change: PendingChange<RecordID>) {
      self.init(change.kind, change.id.zone)
      record = change.id.name
    }

    private init(_ kind: ChangeKind, _ id: ZoneID) {
      change = kind.word
      zone = id.name
      owner = id.owner == ZoneID.currentOwner ? nil : id.owner
    }
  }

  var file: File
  var formatVersion: Int
  var isUnchecked: Bool?
  var database: String?
  var account: Account
  var counts: [String: Int]
  var databaseToken: Token?
  var zoneTokens: [Zone]
  var zonesWithUnfetchedChanges: [Zone]
  var zonesStartingOver: [Zone]
  var fetchesBeforeNextSend: Bool
  var hasPendingUntrackedChanges: Bool
  var subscription: String?
  var pendingDatabaseChanges: [Change]
  var pendingRecordZoneChanges: [Change]

  init(_ inspection: StateInspection) {
    let state = inspection.state
    file = StatePage.file(of: inspection)
    formatVersion = inspection.stateFormat
    isUnchecked = inspection.isUnchecked ? true : nil
    database = state.database?.description
    account = Account(
      user: state.user?.rawValue, appHasBeenTold: state.unannounced == nil,
      previousUser: state.unannounced?.previous?.rawValue)
    databaseToken = state.databaseToken.map(Token.init)
    zoneTokens = state.zoneTokens.sorted { $0.key < $1.key }.map { Zone($0.key, token: $0.value) }
    zonesWithUnfetchedChanges = state.changedZones.map { Zone($0) }
    zonesStartingOver = state.expiredZones.sorted().map { Zone($0) }
    fetchesBeforeNextSend = state.needsFetch
    hasPendingUntrackedChanges = state.hasUntrackedChanges
    subscription = state.subscription?.rawValue
    pendingDatabaseChanges = state.zones.unsettled.map(Change.init)
    pendingRecordZoneChanges = state.records.unsettled.map(Change.init)
    counts = [
      "pendingDatabaseChanges": pendingDatabaseChanges.count,
      "pendingRecordDeletions": state.records.unsettled.count { $0.kind == .delete },
      "pendingRecordSaves": state.records.unsettled.count { $0.kind == .save },
      "pendingRecordZoneChanges": pendingRecordZoneChanges.count,
      "zoneTokens": zoneTokens.count,
      "zonesStartingOver": zonesStartingOver.count,
      "zonesWithUnfetchedChanges": zonesWithUnfetchedChanges.count,
    ]
  }

  private static func file(of inspection: StateInspection) -> File {
    switch inspection.form {
    case .log(let log):
      return File(
        bytes: inspection.byteCount, kind: "log", logFormatVersion: Int(LogFormat.version),
        snapshotBytes: log.snapshotBytes, entries: log.entryCount, steps: log.stepCount,
        unfinishedBytes: log.unfinishedBytes)
    case .encoded(let formats, let place):
      return File(
        bytes: inspection.byteCount, kind: "encoded", carriers: formats.isEmpty ? nil : formats,
        member: place.isEmpty ? nil : place)
    }
  }
}

extension ChangeKind {
  /// The kind in a word.
  var word: String {
    switch self {
    case .save: "save"
    case .delete: "delete"
    }
  }
}
