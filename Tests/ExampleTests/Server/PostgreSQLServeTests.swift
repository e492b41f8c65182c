#if PostgreSQL
  import Foundation
  import Testing
  import VerificationSupport

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @Suite("cloudsync serve: PostgreSQL")
  struct PostgreSQLServeTests {
    @Test("Two processes serve one database: tokens, data and archives of each are the other's")
    func twoProcessesServeOneDatabase() async throws {
      let database = try TemporaryDatabase()
      let tool = try ServerTool()
      let first = try await tool.serve("--data", database.address)
      let second = try await tool.serve("--data", database.address)
      #expect(first.apiToken == second.apiToken)
      #expect(try await first.save("a") == 200)
      #expect(try await second.save("b") == 200)
      let query = Data(#"{"query":{"recordType":"Note"}}"#.utf8)
      let found = try await second.post(
        "records/query", query, webAuthToken: first.webAuthTokens["default"])
      #expect(found.status == 200)
      #expect(found.text.contains(#""recordName":"a""#) && found.text.contains(#""b""#))
      let archives = try await [first, second].asyncMap { cloud in
        try await tool.good("export", environment: cloud.environment)
      }
      #expect(archives[0] == archives[1])
      #expect(archives[0].contains(#""name":"a""#) && archives[0].contains(#""name":"b""#))
      #expect(await first.stop() == 0)
      #expect(await second.stop() == 0)
      #expect(database.otherConnections == [])
    }

    /// The body of the answer to a GET without a body, or to a POST with one.
    private func ask(_ url: String, _ body: String? = nil) async throws -> String {
      var request = URLRequest(url: try #require(URL(string: url)))
      if let body {
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
      }
      let (answer, response) = try await URLSession.shared.data(for: request)
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      return String(decoding: answer, as: UTF8.self)
    }

    /// Proves WS-170.
    @Test("A client that waits for pushes at another process is told to fetch, and gets each push")
    func waitingClientMovesToAnotherProcess() async throws {
      let database = try TemporaryDatabase()
      let tool = try ServerTool()
      let first = try await tool.serve("--data", database.address)
      let second = try await tool.serve("--data", database.address)
      let token = try #require(first.webAuthTokens["default"])
      let made = try await ask(
        "\(first.url)/device/1/iCloud.test/development/tokens/create?ckAPIToken=\(first.apiToken)"
          + "&ckWebAuthToken=\(token)&clientId=laptop", #"{"apnsEnvironment":"development"}"#)
      let object = try JSONSerialization.jsonObject(with: Data(made.utf8)) as? [String: Any]
      let courier = try #require(object?["webcourierURL"] as? String).dropFirst(first.url.count)
      let zone = #""zoneID":{"zoneName":"Notes"}"#
      func change(_ path: String, _ operation: String) async throws {
        let body = #"{\#(zone),"operations":[{"operationType":"create",\#(operation)}]}"#
        #expect(try await first.post(path, Data(body.utf8)).status == 200)
      }
      func save(_ name: String) async throws {
        try await change(
          "records/modify", #""record":{"recordName":"\#(name)","recordType":"Note"}"#)
      }
      try await change("zones/modify", #""zone":{\#(zone)}"#)
      try await change(
        "subscriptions/modify",
        #""subscription":{"subscriptionID":"s","subscriptionType":"zone",\#(zone)}"#)
      let mark = #""sid":"s""#
      // Its push waits at the first process.
      try await save("a")
      #expect(try await ask(second.url + courier).contains(mark))
      try await save("b")
      #expect(try await ask(second.url + courier).contains(mark))
      #expect(try await ask(first.url + courier).contains(mark))
      #expect(await first.stop() == 0)
      #expect(await second.stop() == 0)
    }

    @Test("A fault that is added at one process holds at the other, and is cleared at both")
    func faultHoldsAtBothProcesses() async throws {
      let database = try TemporaryDatabase()
      let tool = try ServerTool()
      let first = try await tool.serve("--fault-control", "--data", database.address)
      let second = try await tool.serve("--fault-control", "--data", database.address)
      func faults(_ words: [String], at cloud: ServedCloud) async throws -> String {
        try await tool.run(["faults"] + words, environment: cloud.environment).output
      }
      _ = try await faults(["add", "fail", "code=zoneBusy", "count=2"], at: first)
      #expect(try await faults(["list"], at: second).contains("zoneBusy"))
      #expect(try await second.save("a") != 200)
      #expect(try await first.save("a") != 200)
      #expect(try await second.save("a") == 200)
      _ = try await faults(["add", "limits", "itemsPerRequest=1"], at: second)
      #expect(try await faults(["list"], at: first).contains("itemsPerRequest"))
      _ = try await faults(["clear"], at: first)
      #expect(try await !faults(["list"], at: second).contains("itemsPerRequest"))
      #expect(await first.stop() == 0)
      #expect(await second.stop() == 0)
    }

    @Test("Data move to a file and back by archives, and every archive has the same bytes")
    func dataMoveToFileAndBack() async throws {
      let (before, after) = (try TemporaryDatabase(), try TemporaryDatabase())
      let tool = try ServerTool()
      var archives: [String] = []
      for data in [before.address, tool.path("cloud.db"), after.address] {
        let name = tool.path("\(archives.count)")
        let last = archives.isEmpty ? [] : ["--import", tool.path("\(archives.count - 1)")]
        let cloud = try await tool.serve(["--data", data, "--export-on-exit", name] + last)
        if archives.isEmpty {
          for number in 0..<20 { #expect(try await cloud.save("n\(number)") == 200) }
        }
        #expect(await cloud.stop() == 0)
        archives.append(try String(contentsOfFile: name, encoding: .utf8))
      }
      #expect(archives[0].count > 5_000)
      #expect(archives[1] == archives[0] && archives[2] == archives[0])
    }

    @Test("A database that can't be used is refused with a reason, and left as it is")
    func unusableDatabaseIsRefused() async throws {
      let database = try TemporaryDatabase()
      let tool = try ServerTool()
      func refusal(_ address: String) async throws -> String {
        let run = try await tool.run(["serve", "--data", address])
        #expect(run.code == 69, "\(run.code): \(run.errors)")
        #expect(!run.errors.contains("secret"))
        return run.errors
      }
      #expect(try await refusal("postgresql://user:secret@127.0.0.1:1/x").contains("refused"))
      #expect(try await refusal("postgresql://?no=value").contains("no"))
      try database.execute(["CREATE SCHEMA cloudsync"])
      #expect(try await refusal(database.address).contains("another program"))
      try database.execute([
        "CREATE TABLE cloudsync.layout (version bigint)",
        "INSERT INTO cloudsync.layout VALUES (99)",
      ])
      #expect(try await refusal(database.address).contains("newer version"))
      #expect(database.otherConnections == [])
    }
  }

  extension Sequence {
    /// The results of `body` for every element, one after the other.
    fileprivate func asyncMap<Value>(
      _ body: (Element) async throws -> Value
    ) async rethrows -> [Value] {
      var values: [Value] = []
      for element in self { values.append(try await body(element)) }
      return values
    }
  }
#endif
