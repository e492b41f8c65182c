import Records

/// The names of a world: a few zones with a few records each, so that devices meet often.
struct WorldLayout: Sendable {
  static let container = "iCloud.simulation"

  let zones: [ZoneID]
  let recordsPerZone: Int
  /// Every record by its place; those of a zone stand together.
  let records: [RecordID]
  /// The accounts' user names.
  let users: [UserID]
  /// The number of records of each zone in a tree; empty in worlds without trees.
  var treeSizes: [Int] = []

  /// Describes the zones of `owner`; `nil` for the user's own.
  init(zoneCount: Int, recordsPerZone: Int, users: [UserID], owner: UserID? = nil) {
    zones = (0..<zoneCount).map {
      ZoneID(name: "zone\($0)", owner: owner?.rawValue ?? ZoneID.currentOwner)
    }
    self.recordsPerZone = recordsPerZone
    records = zones.flatMap { zone in
      (0..<recordsPerZone).map { RecordID(name: "record\($0)", zone: zone) }
    }
    self.users = users
  }

  /// The places of a zone's records.
  func places(of zone: Int) -> Range<Int> {
    zone * recordsPerZone..<(zone + 1) * recordsPerZone
  }

  /// The zone of a place.
  func zone(of place: Int) -> Int { place / recordsPerZone }

  /// The number of a zone; `nil` for a zone of no world.
  func number(of zone: ZoneID) -> Int? { zones.firstIndex(of: zone) }

  /// The place of a record; `nil` for a record of no world.
  func place(of record: RecordID) -> Int? {
    guard let zone = number(of: record.zone), let digit = record.name.utf8.last else { return nil }
    let index = Int(digit) - 48
    guard index >= 0, index < recordsPerZone else { return nil }
    let place = zone * recordsPerZone + index
    return records[place].name == record.name ? place : nil
  }

  /// The number of an account, counted from 1.
  func account(of user: UserID) -> Int? { users.firstIndex(of: user).map { $0 + 1 } }
}
