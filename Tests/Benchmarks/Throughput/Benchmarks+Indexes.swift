import CloudMachine
import CloudProtocol
import CommandLineKit
import LoopbackServer
import Records
import SQLite
import VerificationSupport

/// The cost of queries that an index answers.
enum IndexBenchmarks {
  private static let count = 100_000
  /// The number of queries in one turn.
  private static let queries = 20

  /// P19: pages of queries among 100,000 records on SQLite, and the same by hand.
  static func all() -> [Benchmark] {
    let world = Once { try await IndexedNotes(count) }
    return IndexedNotes.Kind.allCases.map { kind in
      Benchmark(
        name: "P19 page of a query by \(kind.words), \(count) records on SQLite", goal: 3,
        subject: Side(
          "the query", operations: queries,
          body: {
            let world = try await world.value
            for number in 0..<queries { try await world.ask(kind, number) }
          }),
        reference: Side(
          "by hand in SQLite with an index", operations: queries,
          body: {
            let world = try await world.value
            try await world.hand.ask(kind, queries, of: count)
          }))
    }
  }

  /// Prints the times of the queries among 100,000 and 1,000,000 records.
  static func measureScale() async throws {
    var before: [IndexedNotes.Kind: Duration] = [:]
    for count in [100_000, 1_000_000] {
      let start = Stopwatch.now
      let world = try await IndexedNotes(count)
      for kind in IndexedNotes.Kind.allCases { try await world.ask(kind, 0) }
      say("\(count) records, indexes made in \((Stopwatch.now - start) / .seconds(1)) s")
      for kind in IndexedNotes.Kind.allCases {
        var times: [Double] = []
        for number in 0..<200 {
          let start = Stopwatch.now
          try await world.ask(kind, number)
          times.append((Stopwatch.now - start) / .nanoseconds(1))
        }
        let time = Duration.nanoseconds(Int(quantile(0.5, of: times)))
        let growth = before[kind].map { ", \(time / $0) times the time of the row above" } ?? ""
        say("  page of a query by \(kind.words): \(time / .milliseconds(1)) ms\(growth)")
        before[kind] = time
      }
    }
  }
}

/// A server in a file with many notes, and a table with the same notes.
final class IndexedNotes: Sendable {
  /// A kind of query.
  enum Kind: CaseIterable {
    case equality, range, prefix, list, sort

    var words: String {
      switch self {
      case .equality: "equality"
      case .range: "range"
      case .prefix: "prefix"
      case .list: "1000 values in IN"
      case .sort: "sort with a cursor"
      }
    }
  }

  /// The records in a page.
  static let page = 100

  let hand: HandMadeNotes
  private let server: BenchServer
  private let count: Int
  private let cursor: QueryCursor?

  init(_ count: Int) async throws {
    var limits = ServerLimits()
    limits.filterValues = 1_000
    let folder = try TemporaryFolder("bench")
    let empty = try BenchServer(.file, in: folder)
    try await empty.makeZone()
    // The request adds the fields to the schema.
    try await empty.save([RecordSave(IndexedNotes.record(0, count))])
    empty.server.close()
    try BenchServer.fill(in: folder, 1..<count) { IndexedNotes.record($0, count) }
    server = try BenchServer(.file, limits: limits, in: folder)
    hand = try HandMadeNotes(count)
    self.count = count
    let first = try await server.send(
      .queryRecords(
        QueryRecords(
          query: IndexedNotes.query(.sort, 0, count), zone: BenchServer.zone,
          limit: IndexedNotes.page)))
    guard case .queried(let page) = first else { throw ToolError("the query was not answered") }
    cursor = page.cursor
  }

  /// The note with a number among `count`: 100 notes share a group.
  static func record(_ number: Int, _ count: Int) -> Record {
    Record(
      id: RecordID(name: PendingSample.name(number), zone: BenchServer.zone), type: "Note",
      fields: [
        "text": .string("n\(number) Bread, milk, apples, and whatever looks good today."),
        "position": .int64(Int64(number)), "group": .int64(Int64(number % (count / 100))),
        "isDone": .int64(0),
        "lastModified": .date(Timestamp(secondsSinceReferenceDate: Double(number))),
      ])
  }

  /// The first position of a query, and the prefix of 111 texts.
  static func place(_ number: Int, _ count: Int) -> (position: Int, prefix: String) {
    (number * 7919 % (count - 2_000), "n\(count / 1_000 + number * 37 % (9 * count / 1_000))")
  }

  private static func query(_ kind: Kind, _ number: Int, _ count: Int) -> Query {
    let place = place(number, count)
    func filter(
      _ key: String, _ comparator: Query.Filter.Comparator, _ value: FieldValue
    ) -> Query.Filter { Query.Filter(key: key, comparator: comparator, value: value) }
    let first = Int64(place.position)
    let filters: [Query.Filter] =
      switch kind {
      case .equality: [filter("group", .equals, .int64(first % Int64(count / 100)))]
      case .range:
        [
          filter("position", .greaterThanOrEquals, .int64(first)),
          filter("position", .lessThan, .int64(first + 200)),
        ]
      case .prefix: [filter("text", .beginsWith, .string(place.prefix))]
      case .list:
        [filter("position", .isIn, .list((0..<1_000).map { .int64(first + 2 * $0) }))]
      case .sort: []
      }
    return Query(
      recordType: "Note", filters: filters,
      sorts: kind == .sort ? [Query.Sort(key: "lastModified", ascending: true)] : [])
  }

  /// Asks for one page.
  func ask(_ kind: Kind, _ number: Int) async throws {
    let reply = try await server.send(
      .queryRecords(
        QueryRecords(
          query: IndexedNotes.query(kind, number, count), zone: BenchServer.zone,
          cursor: kind == .sort ? cursor : nil, limit: IndexedNotes.page)))
    guard case .queried(let page) = reply, page.records.count == IndexedNotes.page else {
      throw ToolError("the page was not full")
    }
  }
}

/// The notes in a table with an index for each query.
actor HandMadeNotes {
  private let connection: Connection
  private let folder: TemporaryFolder

  init(_ count: Int) throws {
    folder = try TemporaryFolder("bench")
    let connection = try Connection(path: folder.path("notes.db"))
    try connection.useWriteAheadLog()
    try connection.execute(
      """
      PRAGMA cache_size = -65536;
      CREATE TABLE notes (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, position INTEGER NOT NULL,
        category INTEGER NOT NULL, isDone INTEGER NOT NULL, modified INTEGER NOT NULL)
      """)
    try connection.transaction {
      for number in 0..<count {
        try connection.run(
          """
          INSERT INTO notes (name, text, position, category, isDone, modified)
          VALUES (?, ?, ?, ?, 0, ?)
          """,
          [
            .text(PendingSample.name(number)),
            .text("n\(number) Bread, milk, apples, and whatever looks good today."),
            .integer(Int64(number)), .integer(Int64(number % (count / 100))),
            .integer(Int64(number)),
          ])
      }
      for column in ["text", "position", "category", "modified"] {
        try connection.execute("CREATE INDEX \(column)_index ON notes (\(column), name)")
      }
    }
    self.connection = connection
  }

  /// Asks for the pages of the first `queries` queries.
  func ask(_ kind: IndexedNotes.Kind, _ queries: Int, of count: Int) throws {
    for number in 0..<queries {
      let place = IndexedNotes.place(number, count)
      let first = Int64(place.position)
      let (condition, values): (String, [SQLValue]) =
        switch kind {
        case .equality: ("category = ? ORDER BY name", [.integer(first % Int64(count / 100))])
        case .range:
          (
            "position >= ? AND position < ? ORDER BY name",
            [.integer(first), .integer(first + 200)]
          )
        case .prefix:
          // A digit is before a colon.
          (
            "text >= ? AND text < ? ORDER BY name",
            [.text(place.prefix), .text(place.prefix + ":")]
          )
        case .list:
          (
            "position IN (\(Array(repeating: "?", count: 1_000).joined(separator: ",")))"
              + " ORDER BY name", (0..<1_000).map { .integer(first + 2 * $0) }
          )
        case .sort:
          ("modified > ? ORDER BY modified, name", [.integer(Int64(IndexedNotes.page - 1))])
        }
      let notes = try connection.rows(
        "SELECT name, text, position, isDone, modified FROM notes WHERE \(condition) LIMIT ?",
        values + [.integer(Int64(IndexedNotes.page))]
      ) {
        SpikeNote(
          name: try $0.text(0), text: try $0.text(1), position: Int(try $0.integer(2)),
          isDone: Int(try $0.integer(3)), modified: Double(try $0.integer(4)))
      }
      guard notes.count == IndexedNotes.page else { throw ToolError("the page was not full") }
      keep(notes)
    }
  }
}
