#if PostgreSQL
  import Foundation
  import Testing
  import VerificationSupport

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The operations that Docs/Cluster.md describes.
  @Suite("cloudsync serve: operation with PostgreSQL")
  struct PostgreSQLOperationTests {
    private let tool: ServerTool

    init() throws { tool = try ServerTool() }

    @discardableResult
    private func run(_ program: URL, _ arguments: [String], input: String = "") async throws
      -> String
    {
      let process = ToolProcess(program: program, arguments: arguments)
      let run = try await BuiltTool.run(process, input: Data(input.utf8))
      try #require(run.code == 0, "\(program.lastPathComponent): \(run.errors)")
      return run.output
    }

    @Test("A restored backup has the same archive, byte for byte")
    func restoredBackupHasSameArchive() async throws {
      guard let dump = InstalledProgram.find("pg_dump"),
        let restore = InstalledProgram.find("pg_restore")
      else { return }
      let (before, after) = (try TemporaryDatabase(), try TemporaryDatabase())
      let cloud = try await tool.serve("--data", before.address)
      for number in 0..<20 { #expect(try await cloud.save("n\(number)") == 200) }
      #expect(try await cloud.save("n3", operation: "forceUpdate", title: "Bread") == 200)
      let archive = try await tool.good("export", environment: cloud.environment)
      // A backup needs no pause of the servers.
      try await run(
        dump, ["--format=custom", "--file=\(tool.path("backup"))", "--dbname=\(before.address)"])
      #expect(await cloud.stop() == 0)
      try await run(
        restore, ["--exit-on-error", "--dbname=\(after.address)", tool.path("backup")])
      let restored = try await tool.serve("--data", after.address)
      #expect(try await tool.good("export", environment: restored.environment) == archive)
      #expect(archive.count > 5_000)
      // Tokens and later changes belong to the restored server as they did before.
      #expect(restored.apiToken == cloud.apiToken)
      #expect(try await restored.save("later") == 200)
      #expect(await restored.stop() == 0)
    }

    private func get(_ cloud: ServedCloud, _ path: String) async throws -> (Int, String) {
      var request = URLRequest(url: try #require(URL(string: cloud.url + path)))
      request.setValue("Bearer \(cloud.controlToken)", forHTTPHeaderField: "authorization")
      let (body, response) = try await URLSession.shared.data(for: request)
      return (
        (response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: body, as: UTF8.self)
      )
    }

    @Test("A server without its database is not ready, and is ready again with it")
    func readinessFollowsDatabase() async throws {
      let database = try TemporaryDatabase()
      let cloud = try await tool.serve("--data", database.address)
      #expect(try await get(cloud, "/readyz").0 == 200)
      try database.setAcceptsConnections(false)
      let (status, reason) = try await get(cloud, "/readyz")
      #expect(status == 503)
      #expect(reason.contains("not currently accepting connections"), "\(reason)")
      // Without the token, the response doesn't contain the database's host.
      let (body, _) = try await URLSession.shared.data(
        from: try #require(URL(string: cloud.url + "/readyz")))
      #expect(String(decoding: body, as: UTF8.self) == "the database can't be reached\n")
      #expect(try await get(cloud, "/healthz").0 == 200)
      #expect(try await cloud.save("a") == 503)
      try database.setAcceptsConnections(true)
      #expect(try await get(cloud, "/readyz").0 == 200)
      #expect(try await cloud.save("a") == 200)
      var metrics = try await get(cloud, "/metrics").1
      // The check for changes of other processes may still wait for its next run.
      for _ in 0..<1_000 where !metrics.contains("storage_connections_in_use 0") {
        metrics = try await get(cloud, "/metrics").1
      }
      for line in ["storage_connections 8", "storage_connections_in_use 0"] {
        #expect(metrics.contains(line), "\(line)")
      }
      #expect(metrics.contains("storage_conflicts_total"))
      #expect(await cloud.stop() == 0)
    }

    /// The configuration of the page, with the places of this test.
    private func configuration(_ clouds: [ServedCloud]) throws -> String {
      var root = URL(fileURLWithPath: #filePath)
      for _ in 0..<4 { root.deleteLastPathComponent() }
      let page = try String(
        contentsOf: root.appendingPathComponent("Docs/Cluster.md"), encoding: .utf8)
      let start = try #require(page.range(of: "```nginx\n")?.upperBound)
      let end = try #require(page.range(of: "```", range: start..<page.endIndex)?.lowerBound)
      var servers = String(page[start..<end])
      for (old, new) in [
        ("listen 8080", "listen unix:\(tool.path("http.sock"))"),
        ("127.0.0.1:8400", clouds[0].url.replacingOccurrences(of: "http://", with: "")),
        ("127.0.0.1:8401", clouds[1].url.replacingOccurrences(of: "http://", with: "")),
      ] {
        try #require(servers.contains(old), "\(old)")
        servers = servers.replacingOccurrences(of: old, with: new)
      }
      let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
        "\($0)_temp_path \(tool.path($0));"
      }
      return """
        daemon off;
        pid \(tool.path("nginx.pid"));
        error_log \(tool.path("error.log"));
        events {}
        http {
        access_log off;
        \(folders.joined(separator: "\n"))
        \(servers)
        }
        """
    }

    private static let publicURL = "https://sync.example.com"

    @Test("Two processes behind nginx are restarted in turn, and no request fails")
    func processesAreRestartedInTurn() async throws {
      guard let nginx = InstalledProgram.find("nginx"), let curl = InstalledProgram.find("curl")
      else { return }
      let database = try TemporaryDatabase()
      var clouds = [
        try await tool.serve("--data", database.address, "--public-url", Self.publicURL),
        try await tool.serve("--data", database.address, "--public-url", Self.publicURL),
      ]
      try configuration(clouds).write(
        toFile: tool.path("nginx.conf"), atomically: true, encoding: .utf8)
      let proxy = try RunningTool(
        ToolProcess(
          program: nginx, arguments: ["-p", tool.folder.path, "-c", tool.path("nginx.conf")]))
      while !FileManager.default.fileExists(atPath: tool.path("nginx.pid")) { await Task.yield() }
      let token = try #require(clouds[0].webAuthTokens["default"])
      let url =
        "http://sync.example.com/database/1/iCloud.test/development/private/records/modify"
        + "?ckAPIToken=\(clouds[0].apiToken)&ckWebAuthToken=\(token)"
      let (stream, ended) = AsyncStream.makeStream(of: Void.self)
      @Sendable func save(_ name: String) async throws {
        let body = #"""
          {"operations":[{"operationType":"create",
          "record":{"recordName":"\#(name)","recordType":"Note"}}]}
          """#
        try await run(
          curl,
          [
            "--silent", "--show-error", "--fail", "--unix-socket", tool.path("http.sock"),
            "--data-binary", "@-", url,
          ], input: body)
      }
      // Several clients, so that each process has requests in each state when it stops.
      let clients = (0..<4).map { client in
        Task {
          defer { ended.finish() }
          var count = 0
          while !Task.isCancelled || count < 5 {
            try await save("c\(client)-\(count)")
            count += 1
            ended.yield()
          }
          return count
        }
      }
      var requests = stream.makeAsyncIterator()
      for index in clouds.indices {
        for _ in 0..<12 { _ = await requests.next() }
        let port = try #require(clouds[index].url.split(separator: ":").last.map(String.init))
        #expect(await clouds[index].stop() == 0)
        for _ in 0..<12 { _ = await requests.next() }
        clouds[index] = try await tool.serve(
          "--data", database.address, "--port", port, "--public-url", Self.publicURL)
      }
      for _ in 0..<12 { _ = await requests.next() }
      for client in clients { client.cancel() }
      var names: [String] = []
      for (client, load) in clients.enumerated() {
        names += (0..<(try await load.value)).map { "c\(client)-\($0)" }
      }
      let archive = try await tool.good("export", environment: clouds[0].environment)
      for name in names { #expect(archive.contains(#""name":"\#(name)""#)) }
      proxy.send(SIGTERM)
      #expect(await proxy.exitCode() == 0)
      for cloud in clouds { #expect(await cloud.stop() == 0) }
    }
  }
#endif
