import CloudProtocol
import Records
import Testing
import VerificationSupport

@testable import CloudMachine

/// What storages have without implementing it, and the sorted names of the one in memory.
struct StorageDefaultTests {
  @Test("A storage without its own way finds the same latest records as the one in memory")
  func defaultsFindTheSameRecords() throws {
    let world = try World()
    _ = try world.modify((0..<6).map { fresh("r\($0)") })
    _ = try world.modify(delete: [id("r2")])
    let (known, plain) = (world.storage, WatchedStorage(world.storage))
    let rows = try known.recordChanges(of: World.zone, in: world.database, after: 0, limit: .max)
    let places = [0, 1, rows[2].changedAt, rows[5].changedAt, .max]
    for place in places {
      for limit in [-1, 0, 1, 3, 100] {
        let wanted = rows.reversed().filter { $0.changedAt < place }.prefix(max(0, limit))
        for storage in [known, plain] as [any CloudStorage] {
          let found = try storage.latestRecordChanges(
            of: World.zone, in: world.database, before: place, limit: limit)
          #expect(found == Array(wanted), "before \(place), \(limit) of \(type(of: storage))")
        }
      }
    }
    for (most, count) in [(0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (.max, 5)] {
      for storage in [known, plain] as [any CloudStorage] {
        let found = try storage.recordCount(of: World.zone, in: world.database, upTo: most)
        #expect(found == count, "up to \(most) of \(type(of: storage))")
      }
    }
    #expect(try plain.rowCount() == nil)
    #expect(try plain.dataVersion() == nil)
    #expect(try plain.sharedState() == nil)
    #expect(try plain.countRequest(of: "a", window: 1) == nil)
  }

  @Test("The databases of accounts are theirs, and those without an owner")
  func databasesOfAccounts() throws {
    let world = try World()
    _ = try world.modify([fresh("p", zone: .default)], in: .public)
    for (names, owners) in [
      (["alice"], [nil, world.alice]), (["bob"], [nil, world.bob]), ([], [nil]),
      (["alice", "bob", "eve"], [nil, world.alice, world.bob]),
    ] as [([String], [UserID?])] {
      let found = try world.storage.databases(ofAccounts: names).map(\.id.owner)
      #expect(Set(found) == Set(owners) && found.count == owners.count, "\(names)")
    }
  }

  @Test("A zone of more than two pages is read whole, in order")
  func zoneOfManyPagesIsReadWhole() throws {
    let world = try World()
    for start in [0, 400, 800] {
      _ = try world.modify((start..<min(1_001, start + 400)).map { fresh("r\($0)") })
    }
    let all = try world.storage.recordChanges(
      of: World.zone, in: world.database, after: 0, limit: .max)
    for skipped in [0, 1, 501] {
      var found: [RecordRow] = []
      let place = skipped == 0 ? 0 : all[skipped - 1].changedAt
      try world.storage.forEachPage(of: World.zone, in: world.database, after: place) {
        found += $0
      }
      #expect(found == Array(all.dropFirst(skipped)), "\(found.count) after \(skipped)")
    }
  }

  @Test("Sorted names are each there once, in order, after any name")
  func namesAreSorted() {
    var names = SortedNames()
    var known: Set<String> = []
    var generator = SeededGenerator(seed: 3)
    for round in 0..<6_000 {
      let name = "n\(generator.below(2_500))"
      if round < 4_000 || generator.once(in: 3) {
        names.insert(name)
        known.insert(name)
      } else {
        names.remove(name)
        known.remove(name)
      }
      guard round % 1_000 == 999 else { continue }
      let sorted = known.sorted()
      #expect(names.names(after: nil, limit: .max) == sorted)
      for start in ["", "n", sorted[0], sorted[700], "n1", "n7777", "zzz", sorted.last ?? ""] {
        for limit in [0, 1, 5, 513] {
          let wanted = sorted.filter { $0 > start }.prefix(limit)
          #expect(names.names(after: start, limit: limit) == Array(wanted), "\(start) \(limit)")
        }
      }
    }
    for name in known { names.remove(name) }
    #expect(names.names(after: nil, limit: 1) == [] && names.names(after: "a", limit: 1) == [])
    names.remove("none")
    names.insert("one")
    #expect(names.names(after: "none", limit: 2) == ["one"])
  }
}
