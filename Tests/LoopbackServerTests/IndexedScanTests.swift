import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Records
import SQLite
import Testing

@testable import LoopbackServer

/// How queries use the indexes of a file, slice by slice.
@Suite("Scans of indexes")
struct IndexedScanTests {
  private static func fields(_ number: Int) -> Fields {
    [
      "n": .int64(Int64(number)), "group": .int64(Int64(number % 4)),
      "text": .string("T\(number)"), "x": .string("x"),
    ]
  }

  private func filter(
    _ key: String, _ comparator: Query.Filter.Comparator, _ value: FieldValue
  ) -> Query.Filter { Query.Filter(key: key, comparator: comparator, value: value) }

  @Test("A selective query, or a sorted page, among 20,000 records examines only what it finds")
  func aQueryExaminesOnlyWhatItFinds() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(20_000, IndexedScanTests.fields)
    let values = FieldValue.list((0..<100).map { .int64($0 * 150) })
    let equal = filter("n", .equals, .int64(777))
    let group = filter("group", .equals, .int64(3))
    let cases: [(filters: [Query.Filter], sort: String?, found: Int)] = [
      ([equal], nil, 1),
      ([filter("n", .equals, .double(777.5))], nil, 0),
      ([filter("n", .greaterThan, .int64(19_950))], nil, 49),
      ([filter("text", .beginsWith, .string("T1234"))], nil, 11),
      ([filter("n", .isIn, values)], nil, 100),
      // 5,000 records have the value, and the page needs 100 of them.
      ([group], nil, 100),
      ([group, equal], nil, 0),
      ([equal], "group", 1),
      ([], "n", 100),
      // All records have the same value.
      ([], "x", 100),
      ([filter("n", .greaterThanOrEquals, .int64(4_000))], "n", 100),
      ([filter("text", .beginsWith, .string("T1234"))], "text", 11),
      ([filter("n", .isIn, .list([.int64(1), .int64(19_000)]))], "n", 2),
    ]
    for (filters, sort, count) in cases {
      for isAscending in [true, false] {
        let query = Query(
          recordType: "T", filters: filters,
          sorts: sort.map { [Query.Sort(key: $0, ascending: isAscending)] } ?? [])
        var scan = try twins.scan(query)
        let page = try twins.finish(&scan)
        #expect(page.records.count == count, "\(query)")
        #expect(scan.examinedCount <= count + 2, "\(query): \(scan.examinedCount)")
        // The scan of all records has the same answer, and the cursor goes on there.
        let first = QueryRecords(query: query, zone: zoneA)
        #expect(try twins.ask(.queryRecords(first)) == .success(.queried(page)))
        guard let cursor = page.cursor else { continue }
        _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA, cursor: cursor)))
      }
    }
    #expect(try twins.indexCount() == 4)
    try twins.file.close()
  }

  @Test("An index is made in slices, and other servers' and this one's changes meanwhile are in it")
  func anIndexIsMadeInSlices() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(3_000, IndexedScanTests.fields)
    let other = try SQLiteStorage(path: place.path, identity: 1)
    // The other server learns that there is no index.
    let early = Record(id: RecordID(name: "early", zone: zoneA), type: "T")
    try other.commit([
      .putRecord(
        RecordRow(id: early.id, type: "T", record: early, changedAt: 9_000, device: nil),
        in: twins.database)
    ])
    let query = Query(
      recordType: "T", filters: [filter("n", .lessThan, .int64(0))],
      sorts: [Query.Sort(key: "n", ascending: false)])
    // The query of all records makes the index of types.
    _ = try twins.file.records(ofType: "T", in: zoneA, of: twins.database, after: nil, limit: 1)
    var scan = try twins.scan(query)
    var slices = 0
    let page = try twins.finish(&scan) { slice in
      slices = slice
      #expect(try twins.file.indexRows().values.joined().contains { !$0.isComplete } == (slice < 6))
      guard slice < 6 else { return }
      // Before and behind the part that is made.
      for name in ["r10\(slice)", "r99\(slice)"] { try twins.save(name, ["n": .int64(-1)]) }
      let record = Record(
        id: RecordID(name: "other\(slice)", zone: zoneA), type: "T",
        fields: ["n": .int64(-Int64(slice))])
      try other.commit([
        .putRecord(
          RecordRow(
            id: record.id, type: "T", record: record, changedAt: 9_000 + UInt64(slice),
            device: nil),
          in: twins.database)
      ])
    }
    #expect(slices >= 5 && page.records.count == 15, "\(slices) \(page.records.count)")
    try twins.expectCurrentIndexes()
    // The other connection keeps a complete index current, too.
    try other.commit([
      .putRecord(
        RecordRow(
          id: RecordID(name: "other1", zone: zoneA), type: "T", record: nil, changedAt: 9_100,
          device: nil), in: twins.database)
    ])
    try twins.expectCurrentIndexes()
    try other.close()
    try twins.file.close()
  }

  @Test("A record that changes between two slices is found at most once, and others exactly once")
  func aChangedRecordIsFoundOnce() throws {
    // With few entries at once, a sorted query reads in the order of its sort.
    for (sort, entries) in [(nil, 10_000), ("n", 10_000), ("n", 3), ("group", 3)]
      as [(String?, Int)]
    {
      for seed in 1...4 as ClosedRange<UInt64> {
        var random = StorageRandom(seed: seed)
        let place = try TemporaryFile()
        defer { place.remove() }
        let twins = try ScannedTwins(path: place.path, indexEntries: entries)
        try twins.fill(600, IndexedScanTests.fields)
        // The first filter has an index, the second one has none and lets the scan read on.
        let query = Query(
          recordType: "T",
          filters: [
            filter("n", .lessThan, .int64(500)), filter("group", .notEquals, .int64(0)),
          ], sorts: sort.map { [Query.Sort(key: $0, ascending: true)] } ?? [])
        // The first query makes the indexes.
        _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA, limit: 1)))
        var scan = try twins.scan(query, limit: 200)
        var touched: Set<String> = []
        var slices = 0
        let page = try twins.finish(&scan) { slice in
          slices = slice
          // The first one was found before and moves to a place that is still to be read.
          let number = slice == 1 ? 1 : random.below(600)
          let value = slice == 1 ? 260 : Int64(random.below(900))
          touched.insert("r\(number)")
          try twins.save(
            "r\(number)",
            ["n": .int64(value), "group": .int64(slice == 1 ? 1 : Int64(random.below(4)))])
        }
        let found = page.records.map(\.id.name)
        #expect(slices > 1 && Set(found).count == found.count)
        let first = (0..<500).filter { $0 % 4 != 0 }
        let ordered: [String] =
          switch sort {
          case "n": first.map { "r\($0)" }
          case nil: first.map { "r\($0)" }.sorted()
          default:
            (1..<4).flatMap { group in
              first.filter { $0 % 4 == group }.map { "r\($0)" }.sorted()
            }
          }
        // Records that were not changed are found up to the end of the page.
        let kept = found.filter { !touched.contains($0) }
        #expect(kept == Array(ordered.filter { !touched.contains($0) }.prefix(kept.count)))
        #expect(kept.count > 150)
        try twins.file.close()
      }
    }
  }

  @Test("An index whose making was rolled back is made again")
  func anIndexThatWasRolledBackIsMadeAgain() throws {
    struct Failure: Error {}
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(100, IndexedScanTests.fields)
    let index = FieldIndexID(type: "T", field: "n", zone: zoneA, database: twins.database)
    #expect(throws: Failure.self) {
      try twins.file.transaction {
        #expect(try twins.file.prepareIndex(index, limit: 64) == .ready)
        throw Failure()
      }
    }
    #expect(try twins.indexCount() == 0)
    try twins.save("r5", ["n": .int64(-5)])
    let query = Query(recordType: "T", filters: [filter("n", .equals, .int64(-5))])
    _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA)))
    try twins.expectCurrentIndexes()
    #expect(try twins.indexCount() == 1)
    try twins.file.close()
  }

  @Test("A small zone gets no index, and a zone that is emptied loses its indexes")
  func onlyLargeZonesHaveIndexes() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(100, IndexedScanTests.fields)
    let query = Query(recordType: "T", filters: [filter("n", .equals, .int64(5))])
    twins.file.unindexedRecords = 100
    _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA)))
    #expect(try twins.indexCount() == 0)
    try twins.save("more", ["n": .int64(5)])
    _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA)))
    #expect(try twins.indexCount() == 1)
    let rows = "SELECT count(*) FROM field_values"
    #expect(try twins.file.connection.first(rows) { try $0.integer(0) } == 101)
    _ = try twins.ask(.modifyZones(ModifyZones(delete: [zoneA])))
    #expect(try twins.indexCount() == 0)
    #expect(try twins.file.connection.first(rows) { try $0.integer(0) } == 0)
    try twins.file.close()
  }

  @Test("A type has a bounded number of indexes, and queries beyond them read its records")
  func indexesOfATypeAreLimited() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(20) { number in
      var fields = Fields()
      for key in 0..<70 { fields["f\(key)"] = Field(.int64(Int64(number * key))) }
      return fields
    }
    for key in 0..<70 {
      let query = Query(
        recordType: "T", filters: [filter("f\(key)", .equals, .int64(Int64(3 * key)))])
      // In both, with the same result.
      _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA)))
    }
    #expect(try twins.indexCount() == 64)
    try twins.expectCurrentIndexes()
    try twins.file.close()
  }

  @Test("A file that may not be written is queried, also if no query was made before")
  func anImmutableFileWithoutTypeIndexIsQueried() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(150, IndexedScanTests.fields)
    try twins.file.close()
    twins.file = try SQLiteStorage(path: place.path, identity: 1, mode: .immutable)
    let query = Query(recordType: "T", filters: [filter("n", .lessThan, .int64(100))])
    for query in [query, Query(recordType: "T"), Query(recordType: "other")] {
      var scan = try twins.scan(query, limit: 200)
      let count = query.filters.isEmpty ? 150 : 100
      #expect(
        try twins.finish(&scan).records.count == (query.recordType == "T" ? count : 0))
    }
    try twins.file.close()
  }

  /// What is wrong with an index: a wrong key, a missing entry, an entry of a record that does not
  /// exist, and entries without an index, which the next index would use.
  enum Mismatch: String, CaseIterable {
    case key = """
      UPDATE field_values SET key = (SELECT key FROM field_values WHERE name = 'r91')
      WHERE name = 'r90'
      """
    case missing = "DELETE FROM field_values WHERE name = 'r90'"
    case extra =
      "INSERT INTO field_values SELECT field, key, 'none', 9999 FROM field_values LIMIT 1"
    case unowned = """
      UPDATE field_values SET key = (SELECT key FROM field_values WHERE name = 'r91')
      WHERE name = 'r90';
      DELETE FROM field_indexes
      """
  }

  @Test(
    "An index that does not match the records is removed by a save, and made anew by a query",
    arguments: [Mismatch.key, .missing])
  func aSaveRemovesAWrongIndex(_ mismatch: Mismatch) throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try indexedTwins(place)
    try twins.file.connection.execute(mismatch.rawValue)
    try twins.save("r90", ["n": .int64(77)])
    #expect(try twins.indexCount() == 0)
    _ = try twins.ask(.queryRecords(QueryRecords(query: sorted, zone: zoneA)))
    #expect(try twins.indexCount() == 1)
    try twins.expectCurrentIndexes()
    try twins.file.close()
  }

  @Test("A query that finds a wrong key in its index begins again, and has its whole result")
  func aQueryRemovesAWrongIndex() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try indexedTwins(place)
    try twins.file.connection.execute(Mismatch.key.rawValue)
    _ = try twins.ask(.queryRecords(QueryRecords(query: sorted, zone: zoneA)))
    try twins.expectCurrentIndexes()
    try twins.file.close()
  }

  @Test(
    "A query whose index is wrong, or removed, after a slice begins again: its result is whole",
    arguments: [true, false])
  func aQueryWithoutItsIndexBeginsAgain(isRemoved: Bool) throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try indexedTwins(place)
    var query = sorted
    query.filters = [filter("group", .notEquals, .int64(0))]
    var scan = try twins.scan(query, limit: 60)
    var slices = 0
    let page = try twins.finish(&scan) { number in
      slices = number
      guard number == 1 else { return }
      if isRemoved {
        try twins.file.transaction {
          let zone = try twins.file.number(of: zoneA, in: twins.database)
          try twins.file.removeIndexes(zone: #require(zone))
        }
      } else {
        try twins.file.connection.execute(Mismatch.key.rawValue)
      }
    }
    #expect(slices > 1)
    #expect(page.records.map(\.id.name) == (1...79).filter { $0 % 4 != 0 }.map { "r\($0)" })
    try twins.expectCurrentIndexes()
    try twins.file.close()
  }

  @Test(
    "A file with an index that does not match the records opens, without indexes",
    arguments: Mismatch.allCases)
  func openingRemovesWrongIndexes(_ mismatch: Mismatch) throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try indexedTwins(place)
    try twins.file.connection.execute(mismatch.rawValue)
    try twins.reopen()
    #expect(try twins.indexCount() == (mismatch == .key ? 1 : 0))
    let entries = try twins.file.first("SELECT count(*) FROM field_values") { try $0.integer(0) }
    #expect(entries == (mismatch == .key ? 100 : 0))
    _ = try twins.ask(.queryRecords(QueryRecords(query: sorted, zone: zoneA)))
    try twins.expectCurrentIndexes()
    try twins.file.close()
  }

  @Test("A file that may not be written, whose index does not match the records, is not opened")
  func wrongIndexOfAnImmutableFileIsRefused() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try indexedTwins(place)
    try twins.file.connection.execute(Mismatch.missing.rawValue)
    try twins.file.close()
    let error = #expect(throws: ServerFileError.self) {
      try SQLiteStorage(path: place.path, identity: 1, mode: .immutable)
    }
    #expect(error?.code == .damaged && error?.message.contains("index") == true)
  }

  @Test("A query that finds a wrong key in a file that may not be written reports the damage")
  func wrongKeyInAnImmutableFileIsDamage() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try indexedTwins(place)
    try twins.file.connection.execute(Mismatch.key.rawValue)
    try twins.file.close()
    twins.file = try SQLiteStorage(path: place.path, identity: 1, mode: .immutable)
    let error = #expect(throws: ServerFileError.self) { _ = try twins.scan(sorted) }
    #expect(error?.code == .damaged && error?.message.contains("index") == true, "\(error as Any)")
    try twins.file.close()
  }

  private var sorted: Query {
    Query(recordType: "T", sorts: [Query.Sort(key: "n", ascending: true)])
  }

  /// A hundred records and the index for `sorted`.
  private func indexedTwins(_ place: TemporaryFile) throws -> ScannedTwins {
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(100, IndexedScanTests.fields)
    _ = try twins.ask(.queryRecords(QueryRecords(query: sorted, zone: zoneA)))
    #expect(try twins.indexCount() == 1)
    return twins
  }

  @Test("An index of large records is made in parts of 512 KiB")
  func anIndexOfLargeRecordsIsMadeInParts() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(150, IndexedScanTests.largeFields)
    let index = FieldIndexID(type: "T", field: "n", zone: zoneA, database: twins.database)
    var states: [FieldIndexState] = []
    while states.count < 9, states.last != .ready {
      states.append(try twins.file.prepareIndex(index, limit: 64))
    }
    #expect(states == [.incomplete, .incomplete, .ready])
    try twins.expectCurrentIndexes()
    try twins.file.close()
  }

  @Test(
    "A slice of large records that an index names ends after 256 KiB, and the next ones go on",
    arguments: [nil, "n"])
  func aSliceOfLargeRecordsIsShort(sort: String?) throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(60, IndexedScanTests.largeFields)
    let query = Query(
      recordType: "T", filters: [filter("n", .greaterThanOrEquals, .int64(10))],
      sorts: sort.map { [Query.Sort(key: $0, ascending: true)] } ?? [])
    // The first query makes the index.
    _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA)))
    var scan = try twins.scan(query)
    scan.examine()
    #expect(scan.examinedCount == 14)
    #expect(try twins.finish(&scan).records.count == 50)
    try twins.file.close()
  }

  /// Fields of 20,000 bytes.
  private static func largeFields(_ number: Int) -> Fields {
    ["n": .int64(Int64(number)), "text": .string(String(repeating: "x", count: 20_000))]
  }

  @Test("A filter with more than 2,000 values reads all records instead of the ranges of an index")
  func aFilterWithManyValuesReadsAllRecords() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path, filterValues: 3_000)
    try twins.fill(300, IndexedScanTests.fields)
    for (count, examined) in [(2_000, 1), (2_001, 300)] {
      // One of the values is that of a record.
      let values = FieldValue.list((0..<Int64(count)).map { .int64(-$0) })
      let query = Query(recordType: "T", filters: [filter("n", .isIn, values)])
      _ = try twins.ask(.queryRecords(QueryRecords(query: query, zone: zoneA)))
      var scan = try twins.scan(query)
      #expect(try twins.finish(&scan).records.map(\.id.name) == ["r0"])
      #expect(scan.examinedCount == examined, "\(count) values")
    }
    try twins.file.close()
  }

  @Test("A file that may not be written is queried: with its indexes, and without any in layout 5")
  func anImmutableFileIsQueried() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    try twins.fill(100, IndexedScanTests.fields)
    let query = QueryRecords(
      query: Query(
        recordType: "T", filters: [filter("n", .lessThan, .int64(3))],
        sorts: [Query.Sort(key: "n", ascending: true)]), zone: zoneA)
    _ = try twins.ask(.queryRecords(query))
    for hasIndexes in [true, false] {
      if !hasIndexes {
        let connection = try Connection(path: place.path)
        try connection.execute(
          "DROP TABLE field_indexes; DROP TABLE field_values; PRAGMA user_version = 5")
        try connection.close()
      }
      try twins.file.close()
      twins.file = try SQLiteStorage(path: place.path, identity: 1, mode: .immutable)
      twins.file.unindexedRecords = 0
      _ = try twins.ask(.queryRecords(query))
      var scan = try twins.scan(query.query)
      #expect(try twins.finish(&scan).records.map(\.id.name) == ["r0", "r1", "r2"])
      #expect(scan.examinedCount == (hasIndexes ? 3 : 100))
    }
    try twins.file.close()
  }
}
