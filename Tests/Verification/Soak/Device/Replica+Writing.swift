import CloudSync
import Foundation
import Synchronization

/// What the user of a device does.
extension Replica {
  /// The most changes that wait before the user pauses.
  private static let mostPending = 150
  /// How many notes a realm holds about.
  private static let notesPerRealm = 250
  /// How many of these all devices like to edit.
  private static let popularNotes = 25

  /// Does something, unless much is waiting already.
  func write(_ random: inout SeededGenerator) {
    guard let device = place.device else { return }
    contents.withLock { contents in
      guard let engine = contents.engine,
        engine.state.pendingRecordZoneChanges.count < Replica.mostPending
      else { return }
      let count = Int.random(in: 1...4, using: &random)
      var changes: [CKSyncEngine.PendingRecordZoneChange] = []
      for _ in 0..<count {
        if let id = contents.write(as: device, place, &random) { changes.append(.saveRecord(id)) }
      }
      if !changes.isEmpty { engine.state.add(pendingRecordZoneChanges: changes) }
    }
  }

  fileprivate static var room: (notes: Int, popular: Int) { (notesPerRealm, popularNotes) }
}

extension Replica.Contents {
  /// Makes, edits, or wants to delete a note; answers which.
  fileprivate mutating func write(
    as device: Int, _ place: Replica.Place, _ random: inout SeededGenerator
  ) -> CKRecord.ID? {
    let room = Replica.room
    let isFull = rows.count >= room.notes * place.realms.count
    if !isFull, random.chance(rows.count < 20 ? 100 : 15) {
      return make(as: device, place, &random)
    }
    let isPopular = random.chance(20) && !popular.isEmpty
    guard let id = (isPopular ? popular : order).randomElement(using: &random),
      var row = rows[id], row.note?.isEnding != true, !row.wantsEnd
    else { return nil }
    row.edits += 1
    // Only its maker ends a note: another could end it before the maker knows that it was made,
    // who would then make it a second time.
    let isOwn = id.recordName.contains("-\(device)-")
    if isOwn, row.note != nil, random.chance(isFull ? 30 : 5) {
      row.wantsEnd = true
    } else if id.recordName.hasSuffix("7"), random.chance(20) {
      row.wantsFile = max(row.wantsFile, row.note?.fileSeed ?? 0) + 1 + device
    }
    rows[id] = row
    return id
  }

  private mutating func make(
    as device: Int, _ place: Replica.Place, _ random: inout SeededGenerator
  ) -> CKRecord.ID? {
    let zones = place.realms.keys.sorted { $0.zoneName < $1.zoneName }
    guard let zone = zones.randomElement(using: &random) else { return nil }
    made += 1
    let isPopular = popular.count < Replica.room.popular
    let id = CKRecord.ID(
      recordName: "\(isPopular ? "popular" : "note")-\(device)-\(made)", zoneID: zone)
    note(id, Replica.Row(edits: 1))
    return id
  }

  /// Keeps a row that may be new.
  mutating func note(_ id: CKRecord.ID, _ row: Replica.Row) {
    if rows.updateValue(row, forKey: id) != nil { return }
    order.append(id)
    if id.recordName.hasPrefix("popular") { popular.append(id) }
  }

  /// Lets a row go.
  mutating func remove(_ id: CKRecord.ID) {
    guard rows.removeValue(forKey: id) != nil else { return }
    order.removeAll { $0 == id }
    popular.removeAll { $0 == id }
  }
}
