import CloudSync

/// The changes that the server refused and that were not sent again since.
struct DroppedChanges {
  private var refused: [CKRecord.ID: CKError.Code] = [:]

  /// Takes in the next event of an engine.
  mutating func note(_ event: CKSyncEngine.Event) {
    switch event {
    case .accountChange: refused = [:]
    case .fetchedDatabaseChanges(let changes):
      let zones = Set(changes.deletions.map(\.zoneID))
      refused = refused.filter { !zones.contains($0.key.zoneID) }
    case .fetchedRecordZoneChanges(let changes):
      for deletion in changes.deletions { refused[deletion.recordID] = nil }
    case .sentRecordZoneChanges(let sent):
      for record in sent.savedRecords { refused[record.recordID] = nil }
      for id in sent.deletedRecordIDs { refused[id] = nil }
      for failure in sent.failedRecordSaves {
        note(failure.error.code, of: failure.record.recordID, resolved: [.serverRecordChanged])
      }
      for (id, error) in sent.failedRecordDeletes {
        note(error.code, of: id, resolved: [.zoneNotFound, .userDeletedZone])
      }
    default: break
    }
  }

  /// An app may resolve some failures by not sending the change again.
  private mutating func note(
    _ code: CKError.Code, of id: CKRecord.ID, resolved: Set<CKError.Code>
  ) {
    refused[id] = resolved.contains(code) || code == .unknownItem ? nil : code
  }

  /// The changes with the codes of their errors; `nil` if there are none.
  var text: String? {
    let lines = refused.map { "\(CanonicalText.record($0.key)) with \($0.value)" }.sorted()
    return lines.isEmpty ? nil : lines.joined(separator: ", ")
  }
}
