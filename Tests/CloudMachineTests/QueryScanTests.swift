import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing
import VerificationSupport

/// A query that is read in slices: how large they are, and what may happen between them.
struct QueryScanTests {
  private static func fill(
    _ world: World, records: Int, textLength: Int = 0, zone: ZoneID = World.zone
  ) throws {
    for start in stride(from: 0, to: records, by: 200) {
      let saves = (start..<min(records, start + 200)).map { index in
        fresh(
          "r\(1000 + index)",
          [
            "n": .int64(Int64(index * 7 % 10)),
            "t": .string(String(repeating: "x", count: textLength)),
          ], zone: zone, type: "Item")
      }
      _ = try world.modify(saves)
    }
    // The first query for a type prepares the storage.
    _ = try world.query(Query(recordType: "Item"), zone: zone, limit: 1)
  }

  private func scan(
    _ world: World, _ query: Query, zone: ZoneID? = World.zone, limit: Int? = nil,
    in storage: (any CloudStorage)? = nil
  ) throws -> QueryScan {
    let call = CloudCall(
      container: World.container, database: .private, requestID: "q",
      request: .queryRecords(QueryRecords(query: query, zone: zone, limit: limit)))
    let storage = storage ?? world.storage
    let step = try storage.transaction {
      try world.machine.begin(call, from: world.phone, now: world.now, in: storage)
    }
    guard case .querying(let scan) = step else { throw Unexpected() }
    return scan
  }

  /// Runs `scan` to its end, with `between` after each slice; how many records each slice had.
  private func finish(
    _ scan: inout QueryScan, _ world: World, between: (Int) throws -> Void = { _ in }
  ) throws -> [Int] {
    var slices: [Int] = []
    while true {
      let before = scan.examinedCount
      scan.examine()
      slices.append(scan.examinedCount - before)
      if scan.result != nil { return slices }
      try between(slices.count)
      try scan.read(from: world.storage)
    }
  }

  private func names(_ scan: QueryScan) throws -> [String] {
    guard case .success(.queried(let page))? = scan.result else { throw Unexpected() }
    return page.records.map(\.id.name)
  }

  /// Proves CS-212.
  @Test("a slice has at most 64 records, fewer for many filters and for large records")
  func aSliceIsBoundedWhateverTheQueryAndTheRecordsAre() throws {
    let world = try World(zones: [World.zone, ZoneID(name: "Large")])
    try QueryScanTests.fill(world, records: 800)
    try QueryScanTests.fill(world, records: 40, textLength: 20_000, zone: ZoneID(name: "Large"))
    let none = filter("n", .equals, .int64(99))
    for (query, zone, most, total) in [
      (Query(recordType: "Item", filters: [none]), World.zone, 64, 800),
      (Query(recordType: "Item", sorts: [by("n")]), World.zone, 64, 800),
      (
        Query(recordType: "Item", filters: Array(repeating: none, count: 100)), World.zone, 16, 800
      ),
      (Query(recordType: "Item", filters: [none]), ZoneID(name: "Large"), 16, 40),
    ] {
      var scan = try scan(world, query, zone: zone)
      let slices = try finish(&scan, world)
      #expect(slices.reduce(0, +) == total && (slices.max() ?? 0) <= most, "\(slices)")
      #expect(slices.count > total / most)
      let call = CloudCall(
        container: World.container, database: .private, requestID: "q",
        request: .queryRecords(QueryRecords(query: query, zone: zone)))
      let whole = try world.machine.answer(
        call, from: world.phone, now: world.now, in: world.storage)
      #expect(scan.result == whole.result)
    }
    var large = try scan(
      world, Query(recordType: "Item", sorts: [by("n")]), zone: .init(name: "Large"))
    // What the first slice held says how many records fit into the next ones.
    #expect(try finish(&large, world).dropFirst().max() == 3)
  }

  /// Proves CS-212.
  @Test("a page in the order of names is read no further than it goes")
  func aPageInTheOrderOfNamesIsReadNoFurtherThanItGoes() throws {
    let world = try World()
    try QueryScanTests.fill(world, records: 600)
    var scan = try scan(world, Query(recordType: "Item"), limit: 20)
    _ = try finish(&scan, world)
    #expect(try names(scan).count == 20 && scan.examinedCount == 21)
    // Its first slice, which is read when the query starts, is the whole page.
    scan = try self.scan(world, Query(recordType: "Item"), limit: 150)
    #expect(try finish(&scan, world) == [151])
  }

  /// Proves CS-213.
  @Test("other requests run between slices; a record that does not change is found once")
  func whatChangesBetweenSlicesRepeatsAndHidesNothingElse() throws {
    for seed in 1...8 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let world = try World()
      try QueryScanTests.fill(world, records: 300)
      let query = Query(
        recordType: "Item", filters: [filter("n", .lessThan, .int64(5))], sorts: [by("n")])
      var touched: Set<String> = []
      var scan = try scan(world, query, limit: 200)
      let slices = try finish(&scan, world) { slice in
        let name = "r\(1000 + random.below(300))"
        touched.insert(name)
        if random.once(in: 2) {
          _ = try world.modify(delete: [id(name)])
        } else {
          let save = fresh(name, ["n": .int64(Int64(random.below(10)))], type: "Item")
          _ = try world.modify([save], policy: .changedKeys)
        }
        _ = try world.modify([fresh("s\(slice)", ["n": .int64(9)], type: "Item")])
      }
      let found = try names(scan)
      let expected = (0..<300).filter { $0 * 7 % 10 < 5 }.map { "r\(1000 + $0)" }
        .filter { !touched.contains($0) }
      #expect(slices.count > 4 && Set(found).count == found.count, "seed \(seed)")
      #expect(found.filter { !touched.contains($0) }.sorted() == expected, "seed \(seed)")
    }
  }

  /// Proves CS-213.
  @Test("a zone that is deleted between slices: the query for it fails, one for all zones goes on")
  func aZoneThatIsDeletedBetweenSlicesIsReadNoFurther() throws {
    for zone in [World.zone, nil] {
      let world = try World(zones: [World.zone, ZoneID(name: "ZZ")])
      try QueryScanTests.fill(world, records: 200)
      try QueryScanTests.fill(world, records: 3, zone: ZoneID(name: "ZZ"))
      let none = filter("n", .equals, .int64(99))
      var scan = try scan(world, Query(recordType: "Item", filters: [none]), zone: zone)
      let slices = try finish(&scan, world) { slice in
        if slice == 3 { _ = try world.say(.modifyZones(ModifyZones(delete: [World.zone]))) }
      }
      if zone == nil {
        #expect(try names(scan) == [] && slices.count == 6, "\(slices)")
        #expect(slices[3] == 0 && slices[4] == 3, "\(slices)")
      } else {
        #expect(scan.result?.words == "! zoneNotFound" && slices.count == 4)
      }
    }
  }

  /// Proves CS-213.
  @Test("a storage that was replaced between slices ends the query; ask again")
  func aReplacedStorageEndsTheQuery() throws {
    let world = try World()
    try QueryScanTests.fill(world, records: 200)
    var scan = try scan(world, Query(recordType: "Item", sorts: [by("n")]))
    try scan.read(from: world.storage)
    scan.examine()
    try world.storage.commit([
      .removeEverything(identity: 99, secret: StorageSecret(guessableFrom: 99))
    ])
    try scan.read(from: world.storage)
    #expect(scan.result?.words == "! serviceUnavailable")
  }

  /// Proves PB-7.
  @Test("a slice that the storage could not read is read again, and nothing is left out")
  func aSliceThatFailedIsReadAgain() throws {
    let world = try World()
    try QueryScanTests.fill(world, records: 200)
    let storage = WatchedStorage(world.storage)
    var scan = try scan(world, Query(recordType: "Item", sorts: [by("n")]), in: storage)
    var failures = 0
    while scan.result == nil {
      for failing in 1...9 {
        storage.reset(failingCall: failing)
        do {
          try scan.read(from: storage)
          break
        } catch is WatchedStorage.Failure { failures += 1 }
      }
      scan.examine()
    }
    #expect(try names(scan).count == 100 && failures > 4)
  }

  /// Proves CS-212.
  @Test("the first query for a type prepares the storage in slices, whatever is saved meanwhile")
  func theFirstQueryForATypePreparesTheStorageInSlices() throws {
    for seed in 1...8 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let world = try World()
      func save(_ name: String) throws {
        let type = random.once(in: 3) ? "Other" : "Item"
        _ = try world.modify([fresh(name, type: type)], policy: .allKeys)
      }
      for index in 0..<400 { try save("r\(1000 + index)") }
      var scan = try scan(world, Query(recordType: "Item", sorts: [by("n")]), limit: 200)
      for step in 0..<6 {
        if step > 0 { try scan.read(from: world.storage) }
        scan.examine()
        #expect(scan.examinedCount == 0, "400 rows take more than 6 slices of 64")
        _ = try world.modify(delete: [id("r\(1000 + random.below(400))")])
        try save("s\(step)")
        let again = "r\(1000 + random.below(400))"
        if try world.stored(again) == nil { try save(again) }
      }
      _ = try finish(&scan, world)
      let live = try world.names().filter { try world.stored($0)?.type == "Item" }
      #expect(scan.examinedCount == live.count, "seed \(seed)")
      #expect(try names(scan) == Array(live.prefix(200)), "seed \(seed)")
    }
  }
}
