/// The cost of the storage in PostgreSQL; there are none without the trait.
enum ClusterBenchmarks {
  #if !PostgreSQL
    static func all() -> [Benchmark] { [] }
  #endif
}

#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import CloudSync
  import CommandLineKit
  import Foundation
  import LoopbackHTTP
  import LoopbackServer
  import PostgreSQL
  import Records
  import SQLite
  import VerificationSupport
  import WebServices

  extension ClusterBenchmarks {
    private static let batch = 400
    private static let batches = 25
    private static var count: Int { batch * batches }

    /// P31, on the PostgreSQL server that `.ci/postgresql` starts.
    static func all() -> [Benchmark] {
      [
        Benchmark(
          name: "P31 storage alone, requests of 400 records", goal: 1.6, subject: storage,
          reference: upserts),
        Benchmark(
          name: "P31 storage alone, against SQLite", goal: 3.5, subject: storage,
          reference: inserts),
        Benchmark(
          name: "P31 PostgreSQL's own processor time", goal: 1,
          subject: processorTime, reference: Side("20 microseconds") { .microseconds(20) },
          rounds: 3),
        Benchmark(
          name: "P31 PostgreSQL's own processor time, against bare upserts", goal: nil,
          subject: processorTime, reference: processorTimeOfUpserts, rounds: 3),
        Benchmark(
          name: "P31 whole server, in process", goal: nil, subject: server(isBehindHTTP: false),
          reference: upserts),
        Benchmark(
          name: "P31 whole server over HTTP (0.4 of the rate)", goal: 2.5, subject: serverOverHTTP,
          reference: upserts),
        Benchmark(
          name: "P31 whole server over HTTP, with this library's client", goal: nil,
          subject: server(isBehindHTTP: true), reference: upserts),
        Benchmark(
          name: "P31 eight writers of one account (0.8 of the rate)", goal: 1.25,
          subject: writers(8), reference: writers(1)),
        Benchmark(
          // One process, its client and PostgreSQL keep one and a half processors busy.
          name: "P31 two processes (1.5 of the rate with 4 processors)",
          goal: ProcessInfo.processInfo.activeProcessorCount < 4 ? nil : 1 / 1.5,
          subject: processes(2) { Stopwatch.now }, reference: processes(1) { Stopwatch.now }),
        Benchmark(
          name: "P31 two processes, processor time of a record", goal: 1.1,
          subject: processes(2, measuring: busyTime), reference: processes(1, measuring: busyTime),
          rounds: 3),
      ]
    }

    /// The rows of the records of requests.
    private static let rows = (0..<count * 4).map { number -> RecordRow in
      var record = SpikeNote.sample(number).record
      record.changeTag = ChangeTag(String(number, radix: 36))
      record.created = RecordStamp(
        time: Timestamp(secondsSinceReferenceDate: 1), user: UserID("_a"), device: "bench")
      record.modified = record.created
      return RecordRow(
        id: record.id, type: record.type, record: record, changedAt: UInt64(number + 1),
        device: "bench")
    }

    // MARK: The storage

    private static let home = DatabaseID(
      container: BenchServer.container, environment: .development, scope: .private,
      owner: UserID("_a"))

    private static var storage: Side {
      Side(
        "foresee and commit", operations: count,
        setUp: {
          let database = try TemporaryDatabase()
          return Alone(database: database, storage: try PostgreSQLStorage(database.address))
        },
        body: { alone in try save(rows.prefix(count), in: alone.storage) })
    }

    private struct Alone {
      let database: TemporaryDatabase
      let storage: PostgreSQLStorage
    }

    /// Gives the storage the same calls as requests that save new records.
    private static func save(_ rows: ArraySlice<RecordRow>, in storage: PostgreSQLStorage) throws {
      for start in stride(from: rows.startIndex, to: rows.endIndex, by: batch) {
        let rows = rows[start..<min(start + batch, rows.endIndex)]
        let key = ReceiptKey(user: UserID("_a"), device: "bench", requestID: "\(start)")
        try storage.transaction {
          try storage.foresee {
            var plan = ReadPlan()
            plan.databases = [home]
            plan.accounts = ["a"]
            plan.receipt = key
            plan.zones = [home: [BenchServer.zone]]
            plan.newRecords = [
              ReadPlan.ZoneRecords(
                zone: BenchServer.zone, database: home, names: rows.map(\.id.name))
            ]
            plan.subscriptions = [home]
            return plan
          }
          _ = try (storage.receipt(key), storage.zone(BenchServer.zone, in: home))
          for row in rows { _ = try storage.record(row.id, in: home) }
          let end = rows.last?.changedAt ?? 0
          let saved = rows.compactMap(\.record).map { ItemResult(id: $0.id, .success($0)) }
          try storage.commit(
            rows.map { .putRecord($0, in: home) } + [
              .putDatabase(DatabaseRow(id: home, incarnation: 1, sequence: end)),
              .putZone(
                ZoneRow(id: BenchServer.zone, incarnation: 1, changedAt: end), in: home),
              .putReceipt(
                Receipt(key: key, reply: .recordsModified(saved: saved, deleted: [])),
                keeping: 16),
            ])
        }
      }
    }

    /// The processor time of the connection's process.
    private static var processorTime: Side {
      Side("each record", operations: count * 4) {
        let database = try TemporaryDatabase()
        let storage = try PostgreSQLStorage(database.address)
        let watcher = try PostgreSQLConnection(database.address, patience: .seconds(10))
        let process = try watcher.run([
          PostgreSQLStatement(
            """
            SELECT pid::bigint FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        ])[0].first { try $0.integer(0) }
        let time = try processorTime(of: process) { try save(rows[...], in: storage) }
        try storage.close()
        return time
      }
    }

    private static var processorTimeOfUpserts: Side {
      Side("bare upserts", operations: count * 4) {
        let bare = try Bare()
        let process = try bare.connection.run([
          PostgreSQLStatement("SELECT pg_backend_pid()::bigint")
        ])[0].first { try $0.integer(0) }
        return try processorTime(of: process) { try bare.upsert(bodies[...]) }
      }
    }

    private static func processorTime(
      of process: Int64?, during work: () throws -> Void
    ) throws -> Duration {
      guard let process = process.map(Int32.init(clamping:)),
        let before = ProcessFigures(of: process).processorSeconds
      else {
        throw Absence(reason: "the processor time of PostgreSQL can't be read")
      }
      try work()
      return .seconds((ProcessFigures(of: process).processorSeconds ?? before) - before)
    }

    // MARK: References

    private static var upserts: Side {
      Side(
        "bare upserts", operations: count, setUp: { try Bare() },
        body: { bare in try bare.upsert(bodies.prefix(count)) })
    }

    /// The same rows by one statement for each request, which is a transaction, into a table with
    /// the columns and indexes of the server's.
    private struct Bare {
      let database: TemporaryDatabase
      let connection: PostgreSQLConnection

      init() throws {
        database = try TemporaryDatabase()
        try database.execute([
          """
          CREATE TABLE rows (database uuid, place uuid, name text COLLATE "C", feed uuid NOT NULL,
            changed_at bigint NOT NULL, is_live boolean NOT NULL, type text COLLATE "C" NOT NULL,
            body bytea NOT NULL, PRIMARY KEY (database, place, name))
          """,
          "CREATE INDEX by_change ON rows (database, feed, changed_at)",
          "CREATE INDEX by_type ON rows (database, feed, type, name) WHERE is_live",
        ])
        connection = try PostgreSQLConnection(database.address, patience: .seconds(10))
      }

      func upsert(_ rows: ArraySlice<(String, [UInt8])>) throws {
        let key = PostgreSQLValue.uuid(Array(repeating: 1, count: 16))
        for start in stride(from: rows.startIndex, to: rows.endIndex, by: batch) {
          let rows = rows[start..<min(start + batch, rows.endIndex)]
          _ = try connection.run([
            PostgreSQLStatement("BEGIN"),
            PostgreSQLStatement(
              """
              INSERT INTO rows SELECT $1, $1, name, $1, changed_at, true, 'Note', body
              FROM unnest($2::text[], $3::bigint[], $4::bytea[]) AS new (name, changed_at, body)
              ON CONFLICT (database, place, name)
              DO UPDATE SET changed_at = excluded.changed_at, body = excluded.body
              """,
              [
                key, .texts(rows.map(\.0)), .integers(rows.indices.map(Int64.init)),
                .byteArrays(rows.map(\.1)),
              ]),
            PostgreSQLStatement("COMMIT"),
          ])
        }
      }
    }

    private static let bodies = rows.map { row -> (String, [UInt8]) in
      var writer = ByteWriter()
      if let record = row.record { writer.write(record) }
      return (row.id.name, writer.bytes)
    }

    private static var inserts: Side {
      Side(
        "bare inserts in SQLite", operations: count,
        setUp: {
          let folder = try TemporaryFolder("bench")
          let connection = try Connection(path: folder.path("raw.db"))
          try connection.useWriteAheadLog()
          try connection.execute(
            "CREATE TABLE rows (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT")
          return File(folder: folder, connection: connection)
        },
        body: { file in
          for start in stride(from: 0, to: count, by: batch) {
            try file.connection.transaction {
              for row in bodies[start..<start + batch] {
                try file.connection.run(
                  "INSERT INTO rows (name, body) VALUES (?, ?)", [.text(row.0), .blob(row.1)])
              }
            }
          }
        })
    }

    private struct File {
      let folder: TemporaryFolder
      let connection: Connection
    }

    // MARK: The server

    private static let saves = (0..<count).map { RecordSave(SpikeNote.sample($0).record) }

    /// A server on a new database, behind HTTP or not.
    private final class Cloud: Sendable {
      let database: TemporaryDatabase
      let server: LoopbackServer
      let web: LoopbackWebServer?

      init(isBehindHTTP: Bool) async throws {
        database = try TemporaryDatabase()
        server = try LoopbackServer(postgreSQL: database.address)
        web = isBehindHTTP ? try LoopbackWebServer(server) : nil
        _ = try await send(.modifyZones(ModifyZones(save: [BenchServer.zone])))
      }

      deinit { server.close() }

      func transport(_ device: String) throws -> any CloudTransport {
        guard let web else { return server.device(device, signedInAs: "alice") }
        return WebServicesTransport(
          url: URL(string: web.url), apiToken: web.apiToken(),
          webAuthToken: try web.webAuthToken(for: "alice"), device: device)
      }

      func send(
        _ request: CloudRequest, from device: String = "bench"
      ) async throws -> CloudReply {
        try await transport(device).send(
          CloudCall(
            container: BenchServer.container, database: .private, requestID: UUID().uuidString,
            request: request))
      }

      /// Saves the batches with these numbers.
      func save(_ numbers: some Sequence<Int>, from device: String = "bench") async throws {
        for number in numbers {
          let request = ModifyRecords(save: Array(saves[number * batch..<(number + 1) * batch]))
          guard
            case .recordsModified(let saved, _) = try await send(
              .modifyRecords(request), from: device),
            saved.allSatisfy({ $0.error == nil })
          else { throw ToolError("records were not saved") }
        }
      }
    }

    private static func server(isBehindHTTP: Bool) -> Side {
      Side(
        isBehindHTTP ? "modifyRecords over HTTP" : "modifyRecords", operations: count,
        setUp: { try await Cloud(isBehindHTTP: isBehindHTTP) },
        body: { cloud in
          try await cloud.save(0..<batches)
          await cloud.web?.stop()
        })
    }

    /// The server alone: the requests are prepared, as the rows of the reference are, and of the
    /// responses only the number of saved records is looked at.
    private static var serverOverHTTP: Side {
      Side(
        "records/modify", operations: count,
        setUp: {
          let cloud = try await Cloud(isBehindHTTP: true)
          guard let web = cloud.web else { throw ToolError("the server is not behind HTTP") }
          let requests = try requests(port: web.port, tokens: web.tokenQuery(for: "alice"))
          return (cloud, web, requests)
        },
        body: { prepared in
          let (_, web, requests) = prepared
          try await send(requests, port: web.port)
          await web.stop()
        })
    }

    /// The HTTP requests that save the batches.
    private static func requests(port: Int, tokens: String) throws -> [[UInt8]] {
      try (0..<batches).map { number in
        let request = CloudRequest.modifyRecords(
          ModifyRecords(save: Array(saves[number * batch..<(number + 1) * batch])))
        let notation = Notation(container: BenchServer.container, database: .private)
        guard let body = ClientRequest(request, notation)?.text else {
          throw ToolError("the request has no text")
        }
        return message("records/modify", "\(number)", body, port: port, tokens: tokens)
      }
    }

    private static func message(
      _ endpoint: String, _ id: String, _ body: [UInt8], port: Int, tokens: String
    ) -> [UInt8] {
      HTTPMessage.request(
        "POST", "/database/1/\(BenchServer.container)/development/private/\(endpoint)?\(tokens)",
        host: "127.0.0.1:\(port)",
        fields: """
          content-type: application/json\r
          \(EnvelopeHeader.exact): 1\r
          \(EnvelopeHeader.device): bench\r
          \(EnvelopeHeader.request): \(id)\r

          """, body: body)
    }

    private static func send(_ requests: [[UInt8]], port: Int) async throws {
      try await withClientOnThread(port: port) { client in
        for request in requests {
          let answer = try client.expect(request, "a save")
          guard changeTags(in: answer.body) == batch else {
            throw ToolError("records were not saved")
          }
        }
      }
    }

    /// Processes on one database, each with a client of an account of its own.
    private static func processes(
      _ count: Int, measuring time: @escaping @Sendable () throws -> Duration
    ) -> Side {
      Side(
        count == 1 ? "one process" : "\(count) processes", operations: Self.count * count
      ) {
        let database = try TemporaryDatabase()
        let processes = try (0..<count).map { number in
          try ServedProcess(account: "account-\(number)", data: database.address)
        }
        let zone = #"{"zoneID":{"zoneName":"\#(BenchServer.zone.name)"}}"#
        let body = #"{"operations":[{"operationType":"create","zone":\#(zone)}]}"#
        for process in processes {
          try await withClientOnThread(port: process.port) { client in
            _ = try client.expect(
              message(
                "zones/modify", "zone", Array(body.utf8), port: process.port,
                tokens: process.tokens), "a zone")
          }
        }
        let prepared = try processes.map { ($0, try requests(port: $0.port, tokens: $0.tokens)) }
        let start = try time()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (process, requests) in prepared {
            group.addTask { try await send(requests, port: process.port) }
          }
          try await group.waitForAll()
        }
        return try time() - start
      }
    }

    /// The time for which the machine's processors were busy, all together.
    private static func busyTime() throws -> Duration {
      let words =
        String(
          decoding: FileManager.default.contents(atPath: "/proc/stat") ?? Data(), as: UTF8.self
        ).split(separator: "\n").first?.split(separator: " ").compactMap { Int64($0) } ?? []
      guard words.count > 5 else { throw Absence(reason: "the processors' time can't be read") }
      // The fourth and fifth are idle; all are hundredths of a second.
      return .milliseconds(10 * (words.prefix(8).reduce(0, +) - words[3] - words[4]))
    }

    /// The number of change tags in a response, of which each saved record has one.
    private static func changeTags(in body: ArraySlice<UInt8>) -> Int {
      let name = Array("ChangeTag".utf8)
      return body.withUnsafeBytes { bytes in
        var (count, start) = (0, 0)
        while let place = bytes[start...].firstIndex(of: name[0]) {
          if bytes[place...].starts(with: name) { count += 1 }
          start = place + 1
        }
        return count
      }
    }

    /// Devices of one account that save at the same time.
    private static func writers(_ writers: Int) -> Side {
      Side(
        writers == 1 ? "one writer" : "\(writers) writers", operations: batch * 24,
        setUp: { try await Cloud(isBehindHTTP: false) },
        body: { context in
          let cloud = context
          try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
              group.addTask {
                try await cloud.save(
                  stride(from: writer, to: 24, by: writers), from: "bench-\(writer)")
              }
            }
            try await group.waitForAll()
          }
        })
    }
  }
#endif
