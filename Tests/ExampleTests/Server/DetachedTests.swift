import Foundation
import LoopbackHTTP
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Proves S9.
@Suite("cloudsync serve in the background, from a configuration", .timeLimit(.minutes(20)))
struct DetachedTests {
  private let tool: ServerTool

  init() throws { tool = try ServerTool() }

  private func write(_ name: String, _ text: String) throws -> String {
    try text.write(toFile: tool.path(name), atomically: true, encoding: .utf8)
    return tool.path(name)
  }

  @Test("A detached server is waited for and stopped, and logs its requests without tokens")
  func detachedServerIsStopped() async throws {
    let log = tool.path("requests.log")
    let faults = try write("faults.txt", "# a bad day\nfail code=zoneBusy count=3\n\nhold-pushes\n")
    let configuration = try write(
      "cloud.json",
      """
      {"port": 0, "account": ["ada", "bob"], "fault-control": true, "data": "memory",
       "faults": "\(faults)", "request-log": "\(log)", "container": "iCloud.test"}
      """)
    let ready = try await tool.good(
      "serve", "--detach", "--json", "--config", configuration, "--account", "zoe")
    let object = try JSONSerialization.jsonObject(with: Data(ready.utf8)) as? [String: Any]
    let url = try #require(object?["url"] as? String)
    let token = try #require(object?["controlToken"] as? String)
    let accounts = try #require(object?["accounts"] as? [[String: String]])
    // What the command line says counts.
    #expect(accounts.map { $0["account"] } == ["zoe"])
    let environment = ["CLOUDSYNC_SERVER": url, "CLOUDSYNC_CONTROL_TOKEN": token]
    try await tool.good("wait", environment: environment)
    let list = try await tool.good("faults", environment: environment)
    #expect(list.contains("zoneBusy") && list.contains("pushes are held"), "\(list)")
    let again = try await tool.good("faults", "apply", faults, environment: environment)
    #expect(again.contains("2       fail"), "\(again)")
    #expect(try await tool.good("stop", environment: environment) == "stopped\n")
    let gone = try await tool.run(["wait", "--timeout", "1"], environment: environment)
    #expect(gone.code == 69 && gone.errors.contains("no server was ready"), "\(gone.errors)")
    #expect(try await tool.run(["stop"], environment: environment).code == 69)
    let lines = try String(contentsOfFile: log, encoding: .utf8)
    #expect(lines.contains(#""operation":"control/faults","status":200"#), "\(lines)")
    #expect(!lines.contains(token) && !lines.contains("zoneBusy"))
    let mode = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("A request log that nobody reads stops no request, and not the end of the server")
  func aFullRequestLogStopsNothing() async throws {
    let log = tool.path("requests.pipe")
    #expect(mkfifo(log, 0o600) == 0)
    let reader = open(log, O_RDWR | O_CLOEXEC)
    defer { close(reader) }
    let ready = try await tool.good(
      "serve", "--detach", "--json", "--port", "0", "--request-log", log)
    let object = try JSONSerialization.jsonObject(with: Data(ready.utf8)) as? [String: Any]
    let url = try #require(object?["url"] as? String)
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let health = try #require(URL(string: url + "/healthz"))
    // Their lines are more than a pipe holds.
    for _ in 0..<2_000 {
      let (_, answer) = try await session.data(from: health)
      #expect((answer as? HTTPURLResponse)?.statusCode == 200)
    }
    let token = try #require(object?["controlToken"] as? String)
    let environment = ["CLOUDSYNC_SERVER": url, "CLOUDSYNC_CONTROL_TOKEN": token]
    #expect(try await tool.good("stop", environment: environment) == "stopped\n")
  }

  @Test("A detached server that can't start prints why and returns its exit code")
  func detachedServerReportsFailure() async throws {
    let run = try await tool.run(["serve", "--detach", "--data", tool.path("no/such/file")])
    #expect(run.code == 66 && run.output.isEmpty)
    #expect(run.errors.contains("check that its folder exists"), "\(run.errors)")
  }

  @Test("A stop waits for its response as long as it may: the server writes an archive before")
  func stopWaitsAsLongAsItMay() async throws {
    let (never, end) = AsyncStream.makeStream(of: Void.self)
    let server = try HTTPServer(
      admission: { _ in .accept(bodyBytes: 1 << 16) },
      handler: { _ in
        for await _ in never {}
        return HTTPResponse(200, body: [])
      })
    let run = try await tool.run([
      "stop", "--server", "http://127.0.0.1:\(server.port)", "--control-token", "t", "--timeout",
      "1",
    ])
    #expect(run.code == 69 && run.errors.contains("did not answer within 1 s"), "\(run.errors)")
    end.finish()
    await server.stop()
  }

  @Test("A configuration or a fault profile with a mistake is refused, with its name and line")
  func mistakenFilesAreRefused() async throws {
    for (text, words) in [
      ("[]", "is not a JSON object"), (#"{"prot": 1}"#, "\"prot\"; did you mean port?"),
      ("{\n  \"port\" 1}", ": the configuration is not JSON: "),
      (#"{"port": true}"#, "is not one text or number"),
      (#"{"port": ["1", "2"]}"#, "is not one text or number"),
      (#"{"account": {}}"#, "is not a JSON object"),
      (#"{"fault-control": "yes"}"#, "is not true or false"), (#"{"port": "x"}"#, "is not a port"),
    ] {
      let run = try await tool.run(["serve", "--config", try write("bad.json", text)])
      #expect(run.code == 64 && run.errors.contains(words), "\(text): \(run.errors)")
    }
    for (text, words) in [
      ("delay seconds=1\nflai code=x", "line 2 of"), ("fail code", "is not NAME=VALUE"),
      ("faill", "did you mean fail?"),
    ] {
      let file = try write("bad.txt", text)
      let run = try await tool.run(["serve", "--fault-control", "--faults", file])
      #expect(run.code == 64 && run.errors.contains(words), "\(text): \(run.errors)")
    }
    let file = try write("bad.txt", "hold-pushes\nfail code=zonBusy")
    let wrong = try await tool.run(["serve", "--fault-control", "--faults", file])
    #expect(wrong.code == 64 && wrong.errors.contains("line 2 of \"/"), "\(wrong.errors)")
    let cloud = try await tool.serve("--fault-control")
    let refused = try await tool.run(["faults", "apply", file], environment: cloud.environment)
    #expect(refused.code == 64 && refused.errors.contains("line 2 of \"/"))
    #expect(refused.errors.hasSuffix("\nTry: cloudsync help faults\n"), "\(refused.errors)")
    #expect(try await tool.good("faults", environment: cloud.environment) == "no faults\n")
    #expect(await cloud.stop() == 0)
    #expect(try await tool.run(["serve", "--faults", file]).errors.contains("--fault-control"))
  }

  @Test("A detached server prints the warning of its host, and how to stop it")
  func detachedServerPrintsItsWarning() async throws {
    let token = "a-token-of-this-test"
    let run = try await tool.run(
      ["serve", "--detach", "--host", "0.0.0.0"], environment: ["CLOUDSYNC_CONTROL_TOKEN": token])
    #expect(run.code == 0 && run.errors.contains("listening on 0.0.0.0"), "\(run.errors)")
    let stop = try #require(run.output.firstMatch(of: /cloudsync (stop --server (\S+))\n/))
    try await tool.good(
      "stop", "--server", String(stop.output.2), environment: ["CLOUDSYNC_CONTROL_TOKEN": token])
  }

  @Test("A detached server goes on after its terminal was closed")
  func detachedServerSurvivesAHangup() async throws {
    let environment = ["CLOUDSYNC_CONTROL_TOKEN": "a-token-of-this-test"]
    let ready = try await tool.good(
      "serve", "--detach", "--port", "0", environment: environment)
    let words = try #require(ready.firstMatch(of: /process (\d+);.*stop --server (\S+)\n/))
    let process = try #require(pid_t(words.output.1))
    #expect(kill(process, SIGHUP) == 0)
    let stopped = try await tool.good(
      "stop", "--server", String(words.output.2), environment: environment)
    #expect(stopped == "stopped\n")
  }

  @Test("The manual page contains the help of every command, and its characters mean themselves")
  func manualPageHasEveryCommand() async throws {
    let page = try await tool.good("man")
    #expect(page.hasPrefix(".TH CLOUDSYNC 1 "))
    for command in ["serve", "exec", "faults", "stop"] {
      #expect(page.contains(".SS cloudsync \(command)\n.nf\nUsage: cloudsync \(command)"))
    }
    let commands = [".TH", ".SH", ".SS", ".nf", ".fi"]
    for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(commands.contains { line.hasPrefix($0) }, "\(line)")
    }
    #expect(!page.replacing("\\-", with: "").replacing("\\e", with: "").contains("\\\n"))
  }

  /// Proves WS-182.
  @Test("A fault profile may name accounts and devices of the server, and is else refused whole")
  func aFaultProfileNamesAccountsOfTheServer() async throws {
    let good = try write("good.txt", "hold-pushes\nquota account=bob bytes=1000000\n")
    let cloud = try await tool.serve(
      "--account", "bob", "--account", "default", "--fault-control", "--faults", good)
    let list = try await tool.good("faults", environment: cloud.environment)
    #expect(list.contains("quota of bob is 1000000 bytes"), "\(list)")
    try await tool.good("faults", "clear", environment: cloud.environment)
    for (line, piece) in [
      ("quota account=nobody bytes=1", "there is no account 'nobody'"),
      ("device device=tablet online=false", "knows no device"),
    ] {
      let bad = try write("bad.txt", "hold-pushes\n\n\(line)\n")
      let run = try await tool.run(["faults", "apply", bad], environment: cloud.environment)
      #expect(run.code == 67 && run.errors.contains(piece), "\(run.code): \(run.errors)")
      #expect(run.errors.contains("line 3 of "), "\(run.errors)")
      let list = try await tool.good("faults", environment: cloud.environment)
      #expect(list == "no faults\n")
    }
    let applied = try await tool.good("faults", "apply", good, environment: cloud.environment)
    #expect(applied.contains("quota of bob") && applied.contains("pushes are held"), "\(applied)")
    #expect(await cloud.stop() == 0)
  }
}
