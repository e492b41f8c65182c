import CloudSync

/// The changes that the server refused and that were not sent again since.
struct DroppedChanges {
  private struct Refusal {
    var code: CKError.Code
    /// The change tag of a record that was not saved.
    var tag: String?
  }

  private var records: [CKRecord.ID: Refusal] = [:]
  private var zones: [CKRecordZone.ID: CKError.Code] = [:]

  /// Takes in the next event of an engine.
  mutating func note(_ event: CKSyncEngine.Event) {
    switch event {
    case .accountChange: self = DroppedChanges()
    case .fetchedDatabaseChanges(let changes):
      for change in changes.modifications { zones[change.zoneID] = nil }
      for id in changes.deletions.map(\.zoneID) {
        zones[id] = nil
        records = records.filter { $0.key.zoneID != id }
      }
    case .fetchedRecordZoneChanges(let changes):
      // The app may take another version than that which it changed in place of its own.
      for record in changes.modifications.map(\.record)
      where records[record.recordID]?.tag != record.recordChangeTag {
        records[record.recordID] = nil
      }
      for deletion in changes.deletions { records[deletion.recordID] = nil }
    case .sentDatabaseChanges(let sent):
      for id in sent.savedZones.map(\.zoneID) + sent.deletedZoneIDs { zones[id] = nil }
      for failure in sent.failedZoneSaves { zones[failure.zone.zoneID] = failure.error.code }
      for (id, error) in sent.failedZoneDeletes {
        zones[id] = Self.isGone(error.code) ? nil : error.code
      }
    case .sentRecordZoneChanges(let sent):
      for id in sent.savedRecords.map(\.recordID) + sent.deletedRecordIDs { records[id] = nil }
      // An app may resolve some failures by not sending the change again.
      for failure in sent.failedRecordSaves {
        let (record, code) = (failure.record, failure.error.code)
        let isResolved = code == .serverRecordChanged || code == .unknownItem
        records[record.recordID] =
          isResolved ? nil : Refusal(code: code, tag: record.recordChangeTag)
      }
      for (id, error) in sent.failedRecordDeletes {
        let isResolved = Self.isGone(error.code) || error.code == .unknownItem
        records[id] = isResolved ? nil : Refusal(code: error.code)
      }
    case .stateUpdate, .willFetchChanges, .willFetchRecordZoneChanges,
      .didFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
      break
    }
  }

  private static func isGone(_ code: CKError.Code) -> Bool {
    code == .zoneNotFound || code == .userDeletedZone
  }

  /// The changes with the codes of their errors; `nil` if there are none.
  var text: String? {
    let lines =
      zones.map { "zone \(CanonicalText.zone($0.key)) with \($0.value)" }.sorted()
      + records.map { "\(CanonicalText.record($0.key)) with \($0.value.code)" }.sorted()
    return lines.isEmpty ? nil : lines.joined(separator: ", ")
  }
}
