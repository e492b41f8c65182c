import CloudProtocol
import Records
import SyncMachine

/// I21, on the device: what went with a zone is not uploaded again.
///
/// Once the app was told that a zone was deleted or purged, no edit from before that is sent into a
/// zone of that name, unless a server gave it to this device since. After a reset of encrypted data
/// the app is meant to send all of it again. Which reason is told is compared with the server's.
struct ZoneLossChecker {
  private struct Loss {
    var reason: ZoneDeletionReason
    /// The newest edit of the world at that time.
    var sequence: Int
    /// Older edits that came from the server later.
    var returned: Set<Int> = []
  }

  let layout: WorldLayout
  private var losses: [ZoneID: Loss] = [:]
  private var listed: [ZoneID: ZoneDeletionReason] = [:]

  init(layout: WorldLayout) { self.layout = layout }

  /// A list of zones is on its way to the engine.
  mutating func note(arrived page: DatabaseChangesPage) {
    for deletion in page.deleted { listed[deletion.zone] = deletion.reason }
  }

  /// The reply about zones that a list left out is on its way to the engine.
  mutating func note(arrived results: [ItemResult<ZoneID, Zone>]) {
    for result in results {
      switch result.error?.code {
      case .zoneNotFound where result.error?.userDidResetEncryptedData == true:
        listed[result.id] = .encryptedDataReset
      case .zoneNotFound: listed[result.id] = .deleted
      case .userDeletedZone: listed[result.id] = .purged
      default: listed[result.id] = nil
      }
    }
  }

  /// The faults in reporting these zones; notes the zones.
  ///
  /// - Parameter lastSequence: The newest edit of the world.
  mutating func faults(telling deletions: [ZoneDeletion], lastSequence: Int) -> [String] {
    var faults: [String] = []
    for deletion in deletions {
      if let reason = listed.removeValue(forKey: deletion.zone), reason != deletion.reason {
        faults.append(
          "\(deletion.zone.name) is told as \(deletion.reason), and is gone as \(reason)")
      }
      switch deletion.reason {
      case .deleted, .purged:
        losses[deletion.zone] = Loss(reason: deletion.reason, sequence: lastSequence)
      case .encryptedDataReset: losses[deletion.zone] = nil
      }
    }
    return faults
  }

  /// The server gave the app these records.
  mutating func note(given records: [Record]) {
    for record in records where losses[record.id.zone] != nil {
      guard let value = value(record) else { continue }
      losses[record.id.zone]?.returned.insert(value.sequence)
    }
  }

  /// The fault in sending this; `nil` for none.
  func fault(sending request: ModifyRecords) -> String? {
    for save in request.save {
      guard let loss = losses[save.id.zone] else { continue }
      var record = Record(id: save.id, type: save.type)
      for change in save.changes { record.fields[change.key] = change.field }
      guard let value = value(record), value.sequence <= loss.sequence,
        !loss.returned.contains(value.sequence)
      else { continue }
      return "edit \(value.sequence) of \(save.id.path) is sent, which went with the zone: "
        + "\(loss.reason)"
    }
    return nil
  }

  private func value(_ record: Record) -> SimulatedValue? {
    layout.place(of: record.id).flatMap { SimulatedValue(record, at: $0) }
  }
}
