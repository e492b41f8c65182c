import CloudSync
import Records

extension CKSyncEngine.Event {
  /// The case's name.
  var name: String {
    switch self {
    case .stateUpdate: "stateUpdate"
    case .accountChange: "accountChange"
    case .fetchedDatabaseChanges: "fetchedDatabaseChanges"
    case .fetchedRecordZoneChanges: "fetchedRecordZoneChanges"
    case .sentDatabaseChanges: "sentDatabaseChanges"
    case .sentRecordZoneChanges: "sentRecordZoneChanges"
    case .willFetchChanges: "willFetchChanges"
    case .willFetchRecordZoneChanges: "willFetchRecordZoneChanges"
    case .didFetchRecordZoneChanges: "didFetchRecordZoneChanges"
    case .didFetchChanges: "didFetchChanges"
    case .willSendChanges: "willSendChanges"
    case .didSendChanges: "didSendChanges"
    }
  }

  /// The name, and a line for each item the payload is about.
  var lines: String {
    ([name + qualifier] + items.map { "  " + $0 }).joined(separator: "\n")
  }

  private var qualifier: String {
    switch self {
    case .willFetchChanges(let payload): " \(payload.context.reason)"
    case .didFetchChanges(let payload): " \(payload.context.reason)"
    case .willSendChanges(let payload): " \(payload.context.reason)"
    case .didSendChanges(let payload): " \(payload.context.reason)"
    case .willFetchRecordZoneChanges(let payload):
      " \(CanonicalText.zone(payload.zoneID))\(payload.startsOver ? ", from its beginning" : "")"
    case .didFetchRecordZoneChanges(let payload):
      " \(CanonicalText.zone(payload.zoneID))"
        + (payload.error.map { ": \(CanonicalText.error($0))" } ?? "")
    case .accountChange(let payload):
      switch payload.changeType {
      case .signIn(let user): " signIn \(user.recordName)"
      case .signOut(let user): " signOut \(user.recordName)"
      case .switchAccounts(let old, let new):
        " switchAccounts \(old.recordName) \(new.recordName)"
      }
    case .stateUpdate, .fetchedDatabaseChanges, .fetchedRecordZoneChanges, .sentDatabaseChanges,
      .sentRecordZoneChanges:
      ""
    }
  }

  private var items: [String] {
    switch self {
    case .fetchedDatabaseChanges(let payload):
      payload.modifications.map { "zone \(CanonicalText.zone($0.zoneID))" }
        + payload.deletions.map { "gone \(CanonicalText.zone($0.zoneID)): \($0.reason)" }
    case .fetchedRecordZoneChanges(let payload):
      payload.modifications.flatMap { CanonicalText.record($0.record.value, indent: "") }
        + payload.deletions.map { "gone \($0.recordType) \(CanonicalText.record($0.recordID))" }
    case .sentDatabaseChanges(let payload):
      payload.savedZones.map { "saved \(CanonicalText.zone($0.zoneID))" }
        + payload.failedZoneSaves.map {
          "failed save \(CanonicalText.zone($0.zone.zoneID)): \(CanonicalText.error($0.error))"
        }
        + payload.deletedZoneIDs.map { "deleted \(CanonicalText.zone($0))" }
        + payload.failedZoneDeletes.map {
          "failed deletion \(CanonicalText.zone($0.key)): \(CanonicalText.error($0.value))"
        }.sorted()
    case .sentRecordZoneChanges(let payload):
      payload.savedRecords.map { "saved \(CanonicalText.record($0.recordID))" }
        + payload.failedRecordSaves.map {
          "failed save \(CanonicalText.record($0.record.recordID)): "
            + CanonicalText.error($0.error)
        }
        + payload.deletedRecordIDs.map { "deleted \(CanonicalText.record($0))" }
        + payload.failedRecordDeletes.map {
          "failed deletion \(CanonicalText.record($0.key)): \(CanonicalText.error($0.value))"
        }.sorted()
    case .stateUpdate, .accountChange, .willFetchChanges, .willFetchRecordZoneChanges,
      .didFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
      []
    }
  }
}
