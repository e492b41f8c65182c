import CloudSync
import SimulationSupport
import Synchronization

/// The actions of the user of a device.
extension Replica {
  /// The most changes that wait before the user pauses.
  private static let mostPending = 150
  /// The approximate number of notes in a realm.
  fileprivate static let notesPerRealm = 250
  /// The number of these that all devices edit often.
  fileprivate static let popularNotes = 25

  /// Does something, unless much is waiting already.
  func write(_ random: inout SeededRandom) {
    guard let device else { return }
    contents.withLock { contents in
      guard let engine = contents.engine,
        engine.state.pendingRecordZoneChanges.count < Replica.mostPending
      else { return }
      let count = random.number(in: 1...4)
      var changes: [CKSyncEngine.PendingRecordZoneChange] = []
      for _ in 0..<count {
        if let id = contents.write(as: device, realms, &random) { changes.append(.saveRecord(id)) }
      }
      if !changes.isEmpty { engine.state.add(pendingRecordZoneChanges: changes) }
    }
  }
}

extension Replica.Contents {
  /// Makes, edits, or wants to delete a note; answers which.
  fileprivate mutating func write(
    as device: Int, _ realms: [CKRecordZone.ID: Realm], _ random: inout SeededRandom
  ) -> CKRecord.ID? {
    let isFull = rows.count >= Replica.notesPerRealm * realms.count
    if !isFull, random.chance(rows.count < 20 ? 1 : 0.15) {
      return make(as: device, realms, &random)
    }
    let popular = order.filter(Self.isPopular)
    let choices = random.chance(0.2) && !popular.isEmpty ? popular : order
    guard !choices.isEmpty else { return nil }
    let id = random.pick(choices)
    guard var row = rows[id], row.note?.isEnding != true, !row.wantsEnd
    else { return nil }
    row.edits += 1
    // Only its maker ends a note: another could end it before the maker knows that it was made,
    // who would then make it a second time.
    let isOwn = id.recordName.contains("-\(device)-")
    if isOwn, row.note != nil, random.chance(isFull ? 0.3 : 0.05) {
      row.wantsEnd = true
    } else if id.recordName.hasSuffix("7"), random.chance(0.2) {
      row.wantsFile = max(row.wantsFile, row.note?.fileSeed ?? 0) + 1 + device
    }
    rows[id] = row
    return id
  }

  private mutating func make(
    as device: Int, _ realms: [CKRecordZone.ID: Realm], _ random: inout SeededRandom
  ) -> CKRecord.ID {
    let zone = random.pick(realms.keys.sorted { $0.zoneName < $1.zoneName })
    made += 1
    let isPopular = order.count(where: Self.isPopular) < Replica.popularNotes
    let id = CKRecord.ID(
      recordName: "\(isPopular ? "popular" : "note")-\(device)-\(made)", zoneID: zone)
    note(id, Replica.Row(edits: 1))
    return id
  }

  /// Keeps a row that may be new.
  mutating func note(_ id: CKRecord.ID, _ row: Replica.Row) {
    if rows.updateValue(row, forKey: id) == nil { order.append(id) }
  }

  /// Lets a row go.
  mutating func remove(_ id: CKRecord.ID) {
    if rows.removeValue(forKey: id) != nil { order.removeAll { $0 == id } }
  }

  /// Whether it is a note that all devices like to edit.
  private static func isPopular(_ id: CKRecord.ID) -> Bool { id.recordName.hasPrefix("popular") }
}
