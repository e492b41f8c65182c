import CloudSync
import Foundation
import Testing

@testable import SyncedStore

@Suite("SyncedStore: the order of items")
struct ItemOrderTests {
  private static let zones = [NoteDevice.zone, CKRecordZone.ID(zoneName: "Other")]

  private static func table() -> ItemTable {
    ItemTable(
      types: [SyncedType(Note.self, merging: .serverWins)], zone: NoteDevice.zone,
      accepting: { _ in true }, recreating: { _ in true })
  }

  /// The names of the items as a sort of all entries gives them.
  private static func sorted(_ table: ItemTable, in zone: CKRecordZone.ID?) -> [String] {
    table.entries.filter { $1.item != nil && (zone ?? $0.zoneID) == $0.zoneID }
      .sorted { $0.value.order < $1.value.order }.map(\.key.recordName)
  }

  private static func names(_ table: inout ItemTable, in zone: CKRecordZone.ID?) -> [String] {
    table.items(Note.recordType, in: zone).compactMap { ($0 as? Note)?.id }
  }

  @Test("Items are read in the order in which they were created, whatever happens to them")
  func orderIsThatOfCreation() {
    var table = Self.table()
    // A sequence of numbers that looks random and is the same in each run.
    var number: UInt64 = 1
    func next(_ bound: UInt64) -> UInt64 {
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (number >> 33) % bound
    }
    for step in 0..<3_000 {
      let name = "\(next(40))"
      let id = table.recordID(name, in: Self.zones[Int(next(2))])
      switch next(6) {
      case 0, 1, 2: table.save(Note(name, "\(step)"), id)
      case 3: table.delete(id)
      case 4: table.takeDeletion(id)
      default:
        table.begin()
        table.save(Note(name, "\(step) taken back"), id)
        table.delete(table.recordID("\(next(40))", in: nil))
        table.rollBack()
      }
      for zone in [nil, Self.zones[0], Self.zones[1]] where step.isMultiple(of: 3) {
        #expect(Self.names(&table, in: zone) == Self.sorted(table, in: zone))
      }
      let known = table.positions[Note.recordType]?.count ?? 0
      #expect(known <= 2 * table.entries.count + 40, "removed entries are left out at last")
    }
  }

  @Test("Items that are added and removed one by one are not sorted again")
  func additionsAreNotSorted() {
    var table = Self.table()
    for number in 0..<100 {
      table.save(Note("\(number)", "text"), table.recordID("\(number)", in: nil))
    }
    #expect(table.positions == [:], "they were not read")
    #expect(Self.names(&table, in: nil).count == 100)
    for number in 100..<150 {
      table.save(Note("\(number)", "text"), table.recordID("\(number)", in: nil))
      table.delete(table.recordID("\(number - 100)", in: nil))
      #expect(table.positions[Note.recordType]?.count == number + 1)
    }
    #expect(Self.names(&table, in: nil) == (50..<150).map { "\($0)" })
  }

  @Test("After a save, a change back to the saved version leaves nothing to send")
  func changeBackToTheSavedVersionIsNone() throws {
    var table = Self.table()
    let id = table.recordID("a", in: nil)
    table.save(Note("a", "1"), id)
    let sent = table.recordToSend(id)
    table.save(Note("a", "2"), id)
    table.takeSaved(try #require(sent))
    #expect(table.unsent == [id])
    table.save(Note("a", "1"), id)
    #expect(table[id]?.change == nil && table.unsent == [])
  }
}
