import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing
import VerificationSupport

/// Pages of a query's answer, and the cursors between them.
struct QueryPagingTests {
  private static func world(records: Int, limits: CloudLimits = CloudLimits()) throws -> World {
    let world = try World(limits: limits)
    let saves = (0..<records).map { index in
      // Names in another order than values.
      fresh("r\((index * 37 + 11) % 1000)", ["n": .int64(Int64(index % 10))], type: "Item")
    }
    for start in stride(from: 0, to: records, by: 400) {
      _ = try world.modify(Array(saves[start..<min(records, start + 400)]))
    }
    return world
  }

  /// Proves CS-48, CS-85, SC-150, WS-46.
  @Test("Pages hold 100 records by default and 200 at most")
  func pagesHold100RecordsByDefault() throws {
    let world = try QueryPagingTests.world(records: 450)
    for sorts in [[], [by("n")]] {
      let query = Query(recordType: "Item", sorts: sorts)
      for (limit, count) in [(nil, 100), (0, 100), (7, 7), (200, 200), (1000, 200)] {
        let page = try world.query(query, limit: limit)
        #expect(page.records.count == count && page.cursor != nil, "\(limit ?? -1)")
      }
      var page = try world.query(query, limit: 200)
      page = try world.query(query, cursor: page.cursor, limit: 200)
      page = try world.query(query, cursor: page.cursor, limit: 50)
      #expect(page.records.count == 50 && page.cursor == nil, "a full last page is known as such")
    }
  }

  /// Proves CS-85.
  @Test("A page ends early when its records are large, and no record is lost")
  func pageEndsEarlyForLargeRecords() throws {
    var limits = CloudLimits()
    limits.pageBytes = 1000
    let world = try World(limits: limits)
    for index in 0..<9 {
      let text = String(repeating: "x", count: index == 4 ? 2000 : 300)
      _ = try world.modify([fresh("r\(index)", ["t": .string(text)], type: "Item")])
    }
    let all = (0..<9).map { "r\($0)" }.joined(separator: " ")
    for sorts in [[], [by("t")]] {
      let first = try world.query(Query(recordType: "Item", sorts: sorts))
      #expect(first.records.count == 4 && first.cursor != nil)
      let found = try world.find([], sorts).split(separator: " ").sorted().joined(separator: " ")
      #expect(found == all)
    }
  }

  /// Proves CS-85.
  @Test("A page also ends early when the values that it is sorted by are large")
  func pageEndsEarlyForLargeSortKeys() throws {
    var limits = CloudLimits()
    limits.pageBytes = 1000
    let world = try World(limits: limits)
    for index in 0..<9 {
      let text = String(repeating: "x", count: 300)
      _ = try world.modify([fresh("r\(index)", ["t": .string(text)], type: "Item")])
    }
    let page = try world.query(Query(recordType: "Item", sorts: [by("t")]), fields: .none)
    #expect(page.records.map(\.id.name) == ["r0", "r1", "r2", "r3"] && page.cursor != nil)
  }

  @Test("To sort by a field again changes nothing, also not the size of a cursor")
  func repeatedSortCountsOnce() throws {
    let world = try QueryPagingTests.world(records: 30)
    let once = Query(recordType: "Item", sorts: [by("n"), by("t")])
    let repeated = Query(
      recordType: "Item",
      sorts: [by("n"), by("n", ascending: false), by("t")]
        + Array(repeating: by("n"), count: 20))
    let pages = try [once, repeated].map { try world.query($0, limit: 20) }
    #expect(pages[0].records == pages[1].records)
    #expect(pages[0].cursor?.bytes.count == pages[1].cursor?.bytes.count)
    let rests = try zip([once, repeated], pages).map { query, page in
      try world.query(query, cursor: page.cursor)
    }
    #expect(rests[0].records == rests[1].records && rests[0].records.count == 10)
  }

  /// Proves CS-84, CS-85.
  @Test("A change between two pages repeats and skips no other record", arguments: 1...12)
  func changesBetweenPagesAffectNoOtherRecord(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = try QueryPagingTests.world(records: 120)
    let sorts = [[], [by("n")], [by("n", ascending: false)]][random.below(3)]
    let query = Query(recordType: "Item", sorts: sorts)
    let before = Set(try world.names())
    var touched: Set<String> = []
    var found: [String] = []
    var cursor: QueryCursor?
    repeat {
      let page = try world.query(query, cursor: cursor, limit: 1 + random.below(20))
      found += page.records.map(\.id.name)
      cursor = page.cursor
      // Often the very record the cursor stands at.
      let name = random.once(in: 2) ? found.last ?? "" : before.sorted()[random.below(before.count)]
      touched.insert(name)
      switch random.below(3) {
      case 0: _ = try world.modify(delete: [id(name)])
      case 1:
        let value = FieldValue.int64(Int64(random.below(10)))
        _ = try world.modify([fresh(name, ["n": value], type: "Item")], policy: .changedKeys)
      default:
        touched.insert("new\(found.count)")
        _ = try world.modify([fresh("new\(found.count)", ["n": .int64(5)], type: "Item")])
      }
    } while cursor != nil
    let untouched = before.subtracting(touched)
    let counted = found.filter { untouched.contains($0) }
    #expect(Set(counted) == untouched && counted.count == untouched.count, "seed \(seed)")
  }

  /// Proves CS-86, WS-47.
  @Test("A cursor works only for its own query, zone, database and account, and never if damaged")
  func cursorIsValidOnlyForItsQuery() throws {
    let world = try QueryPagingTests.world(records: 10)
    let other = ZoneID(name: "O")
    _ = try world.say(.modifyZones(ModifyZones(save: [other])))
    for sorts in [[], [by("n")]] {
      let query = Query(recordType: "Item", sorts: sorts)
      let cursor = try #require(try world.query(query, limit: 3).cursor)
      #expect(try world.query(query, cursor: cursor, limit: 3).records.count == 3)
      func say(
        _ cursor: QueryCursor, _ query: Query, zone: ZoneID? = World.zone,
        as caller: Caller? = nil, in scope: DatabaseScope = .private
      ) throws -> String {
        let request = QueryRecords(query: query, zone: zone, cursor: cursor)
        return try world.say(.queryRecords(request), as: caller, in: scope)
      }
      var others = [Query(recordType: "Other", sorts: sorts)]
      others.append(
        Query(recordType: "Item", filters: [filter("n", .equals, .int64(1))], sorts: sorts))
      others.append(Query(recordType: "Item", sorts: sorts + [by("m")]))
      for query in others { #expect(try say(cursor, query) == "! invalidArguments") }
      #expect(try say(cursor, query, zone: other) == "! invalidArguments")
      #expect(try say(cursor, query, zone: nil) == "! invalidArguments")
      #expect(try say(cursor, query, zone: nil, in: .public) == "! invalidArguments")
      #expect(try say(cursor, query, as: world.stranger) == "! invalidArguments")
      let laptop = try say(cursor, query, as: world.laptop)
      #expect(!laptop.hasPrefix("!"), "the account's other device may go on")
      for index in cursor.bytes.indices {
        var damaged = cursor.bytes
        damaged[index] ^= 0x41
        for bytes in [damaged, Array(cursor.bytes[..<index])]
        where try say(QueryCursor(bytes: bytes), query) != "! invalidArguments" {
          Issue.record("damage at byte \(index) was not seen")
        }
      }
      #expect(try say(QueryCursor(bytes: cursor.bytes + [0]), query) == "! invalidArguments")
    }
  }

  @Test("An unsorted page reads as many rows from 2,000 records as from 200")
  func unsortedPageCostIsIndependentOfZoneSize() throws {
    let rows = try [200, 2000].map { records in
      let world = try World()
      for start in stride(from: 0, to: records, by: 400) {
        _ = try world.modify(
          (start..<min(records, start + 400)).map { fresh("r\($0)", type: "Item") })
      }
      // The first query for a type prepares the storage.
      _ = try world.query(Query(recordType: "Item"), limit: 1)
      let storage = WatchedStorage(world.storage)
      let call = CloudCall(
        container: World.container, database: .private, requestID: "q",
        request: .queryRecords(QueryRecords(query: Query(recordType: "Item"), limit: 10)))
      _ = try world.machine.answer(call, from: world.phone, now: world.now, in: storage)
      return storage.rows
    }
    #expect(rows[0] == rows[1] && rows[1] < 30)
  }
}
