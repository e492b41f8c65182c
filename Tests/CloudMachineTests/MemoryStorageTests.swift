import CloudMachine
import CloudProtocol
import Records
import Testing
import VerificationSupport

/// What only the rows in memory can do; the port's own rules are tested for every storage.
struct MemoryStorageTests {
  private struct Stop: Error {}

  @Test("A transaction that throws leaves no changes, also if they were read after the commit")
  func throwingTransactionLeavesNoChanges() throws {
    let storage = MemoryStorage()
    let machine = CloudMachine()
    let alice = try machine.createAccount("alice", in: storage)
    for reads in [false, true] {
      #expect(throws: Stop.self) {
        try storage.transaction {
          try storage.commit([.putAccount(AccountRow(name: "bob", user: UserID("_b")))])
          if reads {
            #expect(try storage.account(named: "bob")?.user == UserID("_b"))
            try storage.commit([.putAccount(AccountRow(name: "carol", user: UserID("_c")))])
          }
          throw Stop()
        }
      }
      #expect(try storage.accounts() == [alice])
    }
    try storage.transaction {
      try storage.commit([.putAccount(AccountRow(name: "bob", user: UserID("_b")))])
    }
    #expect(try storage.accounts().map(\.name) == ["alice", "bob"])
  }

  @Test("A snapshot is independent of later changes and can be restored")
  func snapshotIsIndependentAndRestorable() throws {
    let world = try World()
    _ = try world.modify([fresh("a")])
    let snapshot = world.storage.snapshot()
    _ = try world.modify([fresh("b")], delete: [id("a")])
    #expect(try snapshot.record(id("a"), in: world.database)?.record != nil)
    #expect(try snapshot.record(id("b"), in: world.database) == nil)
    world.storage.restore(snapshot)
    #expect(try world.names() == ["a"])
    _ = try world.modify([fresh("c")])
    #expect(try snapshot.record(id("c"), in: world.database) == nil)
  }

  @Test("The log stays ordered and small, whatever the order of incoming rows")
  func changeLogStaysOrderedAndSmall() throws {
    let storage = MemoryStorage()
    let database = DatabaseID(
      container: "c", environment: .production, scope: .private, owner: UserID("_a"))
    var generator = SeededGenerator(seed: 1)
    var expected: [String: UInt64] = [:]
    var sequence: UInt64 = 1000
    for _ in 0..<2000 {
      sequence += 1
      let name = "r\(generator.below(40))"
      // A few come with an old number, as an import would bring them.
      let number = generator.once(in: 20) ? sequence - 900 : sequence
      if expected.values.contains(number) { continue }
      expected[name] = number
      try storage.commit([
        .putRecord(
          RecordRow(
            id: id(name), type: "T",
            record: generator.once(in: 4) ? nil : Record(id: id(name), type: "T"),
            changedAt: number, device: nil), in: database)
      ])
    }
    let rows = try storage.recordChanges(of: World.zone, in: database, after: 0, limit: .max)
    #expect(rows.map(\.changedAt) == expected.values.sorted())
    for row in rows {
      #expect(expected[row.id.name] == row.changedAt)
      #expect(try storage.record(row.id, in: database) == row)
    }
    let middle = rows[rows.count / 2].changedAt
    try storage.commit([.removeTombstones(of: World.zone, in: database, through: middle)])
    let left = rows.filter { $0.record != nil || $0.changedAt > middle }
    #expect(try storage.recordChanges(of: World.zone, in: database, after: 0, limit: .max) == left)
    #expect(
      try storage.recordChanges(of: World.zone, in: database, after: middle, limit: 3)
        == Array(left.filter { $0.changedAt > middle }.prefix(3)))
  }

  @Test("The latest receipts are kept, and a receipt stored again counts as the latest")
  func latestReceiptsAreKept() throws {
    let storage = MemoryStorage()
    func key(_ name: Int) -> ReceiptKey {
      ReceiptKey(user: UserID("_a"), device: "d", requestID: "\(name)")
    }
    var kept: [Int] = []
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<3000 {
      let name = generator.below(30)
      kept.removeAll { $0 == name }
      kept = Array((kept + [name]).suffix(10))
      let receipt = Receipt(key: key(name), reply: .zones([]))
      try storage.commit([.putReceipt(receipt, keeping: 10)])
      #expect(try (0..<30).filter { try storage.receipt(key($0)) != nil } == kept.sorted())
    }
  }

  @Test("Links follow the record that holds them")
  func linksFollowHoldingRecord() throws {
    let world = try World()
    func holders() throws -> [String] {
      try world.storage.links(to: id("t"), in: world.database).map {
        "\($0.holder.name) \($0.kind)"
      }
    }
    _ = try world.modify([
      fresh("t"), fresh("b", parent: "t", owners: ["t", "t"]), fresh("a", parent: "t"),
    ])
    #expect(try holders() == ["a parent", "b parent", "b deleteSelf"])
    var save = try world.edit("b")
    save.changes = ["owner0", "owner1"].map { .init(key: $0, field: nil) }
    _ = try world.modify([save])
    #expect(try holders() == ["a parent", "b parent"])
    _ = try world.modify(delete: [id("a")])
    #expect(try holders() == ["b parent"])
    _ = try world.say(.modifyZones(ModifyZones(delete: [World.zone])))
    #expect(try holders().isEmpty)
  }
}
