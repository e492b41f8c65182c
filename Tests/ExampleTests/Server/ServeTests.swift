import Foundation
import Testing
import VerificationSupport

@Suite("cloudsync serve: a server that runs until it is told to stop")
struct ServeTests {
  /// Proves S9.
  @Test(
    "The server prints its addresses, then ready, and stops cleanly at each signal",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func serverPrintsAddressAndStopsOnSignal(signal: CInt) async throws {
    let tool = try ServerTool()
    let serve = try tool.start(["serve", "--account", "alice", "--account=bob"])
    var lines: [String] = []
    while lines.last != "ready" { lines.append(try await serve.output.line { _ in true }) }
    for (line, start) in zip(
      lines,
      [
        "server ", "data ", "API token ", "control token ", "web token of alice ",
        "web token of bob ", "console ", "ready",
      ])
    {
      #expect(line.hasPrefix(start), "\(lines)")
    }
    #expect(lines.count == 8 && lines[1].hasSuffix("  memory"), "\(lines)")
    #expect(lines[0].contains("  http://127.0.0.1:"))
    #expect(lines[6].contains("/console#token="))
    serve.send(signal)
    _ = try await serve.errors.line { $0 == "cloudsync: stopped" }
    #expect(await serve.exitCode() == 0)
  }

  @Test("A control token that was given is not printed, nor tokens of accounts that were not named")
  func givenControlTokenIsNotPrinted() async throws {
    let tool = try ServerTool()
    let path = tool.path("data.sqlite")
    let first = try await tool.serve("--data", path, "--account", "alice", "--account", "bob")
    #expect(await first.stop() == 0)
    let again = try await tool.serve("--data", path)
    #expect(again.webAuthTokens.keys.sorted() == ["alice", "bob"], "without a given token")
    #expect(await again.stop() == 0)
    let token = "a-token-of-this-test"
    let environment = ["CLOUDSYNC_CONTROL_TOKEN": token]
    let cases: [([String], [String])] = [([], []), (["--account", "bob"], ["bob"])]
    for (options, names) in cases {
      let serve = try tool.start(["serve", "--data", path] + options, environment: environment)
      var lines: [String] = []
      while lines.last != "ready" { lines.append(try await serve.output.line { _ in true }) }
      #expect(!lines.contains { $0.contains(token) }, "\(lines)")
      #expect(lines.contains { $0.hasSuffix("/console") }, "\(lines)")
      let tokens = lines.filter { $0.hasPrefix("web token of ") }
      #expect(tokens.count == names.count, "\(lines)")
      for name in names { #expect(tokens.contains { $0.hasPrefix("web token of \(name) ") }) }
      serve.send(SIGTERM)
      #expect(await serve.exitCode() == 0)
    }
    let json = try tool.start(["serve", "--json", "--data", path], environment: environment)
    let line = try await json.output.line { $0.contains("\"ready\":true") }
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(!line.contains(token) && (object?["accounts"] as? [Any])?.isEmpty == true, "\(line)")
    let url = try #require(object?["url"] as? String)
    let issued = try await tool.good("token", "alice", "--server", url, environment: environment)
    #expect(issued.count > 40, "\(issued)")
    json.send(SIGTERM)
    #expect(await json.exitCode() == 0)
  }

  @Test("A server for other machines says what that opens, and wrong addresses are refused")
  func serverForOtherMachinesSaysWhatThatOpens() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve(
      "--host", "0.0.0.0", "--public-url", "https://sync.example.com", "--allow-host", "a.example",
      "--trusted-proxy", "10.0.0.0/8")
    let warning = try await cloud.tool.errors.line { $0.contains("listening on 0.0.0.0") }
    #expect(warning.contains("plain HTTP"))
    try await tool.good("inspect", environment: cloud.environment)
    #expect(await cloud.stop() == 0)
    for (option, value, hint) in [
      ("--host", "", "0.0.0.0"), ("--public-url", "sync.example.com", "https://"),
      ("--public-url", "https://sync.example.com/path", "without a path"),
      ("--allow-host", "http://a.example", "sync.example.com"),
      ("--trusted-proxy", "nginx", "10.0.0.0/8"),
      ("--data", "host=127.0.0.1 dbname=notes password=secret", "postgresql://"),
      ("--detach", "--request-log=-", "name a file"),
    ] {
      let run = try await tool.run(["serve", option, value])
      #expect(run.code == 64 && run.errors.contains(hint), "\(option) \(value): \(run.errors)")
    }
    let run = try await tool.run(["serve", "--host", "192.0.2.1"])
    #expect(run.code == 64 && run.errors.contains("192.0.2.1"), "\(run.code) \(run.errors)")
  }

  @Test("A server begins with the data of an archive, and writes one when it stops")
  func serverBeginsWithArchiveAndWritesOne() async throws {
    let tool = try ServerTool()
    let (first, second) = (tool.path("first.jsonl"), tool.path("second.jsonl"))
    let cloud = try await tool.serve("--export-on-exit", first)
    #expect(try await cloud.save("n1") == 200)
    #expect(await cloud.stop() == 0)
    let archive = try String(contentsOfFile: first, encoding: .utf8)
    #expect(archive.contains("n1"))
    let again = try await tool.serve("--import", first, "--export-on-exit", second)
    #expect(try await again.save("n2") == 200)
    #expect(await again.stop() == 0)
    let both = try String(contentsOfFile: second, encoding: .utf8)
    #expect(both.contains("n1") && both.contains("n2"))
    let exec = try await tool.run(["exec", "--import", second, "--", "cloudsync", "version"])
    #expect(exec.code == 127, "the command is not found, after the import")
    for (options, code, words) in [
      (["--import", tool.path("none")], 66, "there is no file"),
      (["--import", "/dev/null"], 65, "archive"),
    ] {
      let run = try await tool.run(["serve"] + options)
      #expect(run.code == code && run.errors.contains(words), "\(run.code) \(run.errors)")
    }
    let folder = tool.path("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let blocked = try await tool.serve("--export-on-exit", folder + "/archive")
    #expect(try await blocked.save("n3") == 200)
    try FileManager.default.removeItem(atPath: folder)
    let refused = try await tool.run(["stop"], environment: blocked.environment)
    #expect(refused.code != 0 && refused.errors.contains("the server was not stopped"))
    #expect(refused.errors.contains("No such file or directory"), "\(refused.errors)")
    #expect(try await blocked.save("n4") == 200, "it goes on")
    #expect(await blocked.stop() == 73)
    let names = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path).sorted()
    #expect(names == ["first.jsonl", "second.jsonl"])
  }

  @Test("Commands, options, subjects and faults are completed, and files are left to the shell")
  func commandLinesAreCompleted() async throws {
    let tool = try ServerTool()
    for (words, expected) in [
      (["serv"], "words\nserve\tstart a server and leave it running\n"),
      (["exe"], "words\nexec\tstart a server, run a command, stop the server\n"),
      (["serve", "--po"], "words\n--port\n"), (["inspect", "rec"], "words\nrecords\n"),
      (["inspect", "--environment", "p"], "words\nproduction\n"),
      (["faults", "cl"], "words\nclear\n"), (["faults", "add", "dela"], "words\ndelay\n"),
      (["completion", "f"], "words\nfish\n"), (["help", "watc"], "words\nwatch\n"),
      (["serve", "--data", ""], "files\n"), (["import", ""], "files\n"),
      (["exec", "--", "a"], "files\n"), (["serve", "--port", "1"], "words\n"),
    ] {
      #expect(try await tool.run(["complete"] + words).output == expected, "\(words)")
    }
    let script = try await tool.good("completion", "bash")
    #expect(script.contains("complete -F _cloudsync cloudsync\n"))
    var process = ToolProcess(program: URL(fileURLWithPath: "/bin/bash"))
    process.arguments = [
      "--norc", "-c",
      """
      \(script)
      COMP_WORDS=("$0" insp); COMP_CWORD=1; _cloudsync; echo "${COMPREPLY[@]}"
      """, try BuiltTool.program("cloudsync").path,
    ]
    #expect(try await BuiltTool.run(process).output == "inspect\n")
    #expect(try await tool.run(["completion", "tcsh"]).code == 64)
  }

  @Test("A mistyped word gets a suggestion, and with --json an error is one line of JSON")
  func mistypedWordGetsSuggestion() async throws {
    let tool = try ServerTool()
    for (arguments, words) in [
      (["sevre"], "unknown command \"sevre\"; did you mean serve?"),
      (["serve", "--prot", "1"], "unknown option --prot; did you mean --port?"),
      (["inspect", "record", "--data", "x"], "did you mean records? There are accounts"),
      (["xyzzy"], "unknown command \"xyzzy\"\n"),
    ] {
      let run = try await tool.run(arguments)
      #expect(run.code == 64 && run.errors.contains(words), "\(run.errors)")
    }
    for (arguments, code, words) in [
      (["inspect", "--json", "record", "--data", "x"], 64, "did you mean records?"),
      (["inspect", "--json", "--data", tool.path("none")], 66, "there is no file"),
    ] {
      let run = try await tool.run(arguments)
      let object = try JSONSerialization.jsonObject(with: Data(run.errors.utf8)) as? [String: Any]
      #expect(run.code == code && object?["code"] as? Int == Int(code), "\(run.errors)")
      #expect((object?["error"] as? String)?.contains(words) == true, "\(run.errors)")
      #expect(run.output.isEmpty)
    }
  }

  @Test("A second signal ends the server at once, also while a request is still answered")
  func secondSignalEndsProcessAtOnce() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve("--fault-control")
    try await tool.good("faults", "add", "delay", "seconds=600", environment: cloud.environment)
    let waiting = Task { try await cloud.save("n1") }
    while try await tool.good("inspect", "--json", environment: cloud.environment)
      .contains("\"openRequests\": 0")
    {}
    // Both at once: a server that has stopped by itself would make the second one useless.
    cloud.tool.send(SIGINT)
    let code = await cloud.stop(SIGTERM)
    #expect(code == 128 + SIGINT || code == 128 + SIGTERM)
    _ = await waiting.result
  }

  @Test("A server started to ignore the hangup signal keeps running when the terminal closes")
  func ignoredHangupKeepsServerRunning() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serveWithoutHangup()
    for _ in 0..<3 {
      cloud.tool.send(SIGHUP)
      try await tool.good("inspect", environment: cloud.environment)
    }
    #expect(await cloud.stop() == 0)
  }

  @Test("A port in use and a file that cannot be used are reported, and nothing is changed")
  func unusablePortOrFileIsReported() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve()
    let port = try #require(cloud.url.split(separator: ":").last)
    let text = tool.path("text")
    try Data("not a database, but some other text".utf8).write(to: URL(fileURLWithPath: text))
    let cases: [([String], CInt, String)] = [
      (["--port", String(port)], 69, "port \(port) of 127.0.0.1 is in use"),
      (["--data", tool.path("missing/file")], 66, "check that its folder exists"),
      (["--data", tool.folder.path], 66, "cannot open"),
      (["--data", text], 65, "is not a database; use another file"),
    ]
    for command in [["serve"], ["exec"]] {
      for (options, code, words) in cases {
        let rest = command == ["exec"] ? ["--", "echo", "ran"] : []
        let run = try await tool.run(command + options + rest)
        #expect(run.code == code && run.output.isEmpty, "\(options): \(run.output)")
        #expect(run.errors.hasPrefix("cloudsync: ") && run.errors.contains(words), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      }
    }
    #expect(try String(contentsOfFile: text, encoding: .utf8).hasPrefix("not a database"))
    #expect(await cloud.stop() == 0)
  }

  @Test("A file's contents and tokens are the same after a restart, for their owner")
  func serverFileSurvivesRestart() async throws {
    let tool = try ServerTool()
    let path = tool.path("data.sqlite")
    let first = try await tool.serve("--data", path)
    #expect(try await first.save("n1") == 200)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(await first.stop() == 0)
    let second = try await tool.serve("--data", path)
    #expect(second.apiToken == first.apiToken)
    let records = try await tool.good("inspect", "records", environment: second.environment)
    #expect(records.contains("n1") && records.contains("title=\"Milk\""), "\(records)")
    #expect(await second.stop() == 0)
  }

  @Test("The watch command prints events as they happen, and ends by a signal or with the server")
  func watchPrintsEventsUntilSignalOrEnd() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve()
    let json = try tool.start(["watch", "--json"], environment: cloud.environment)
    let words = try tool.start(["watch"], environment: cloud.environment)
    for watch in [json, words] { _ = try await watch.errors.line { $0.contains("watching") } }
    #expect(try await cloud.save("n1") == 200)
    let line = try await words.output.line { _ in true }
    #expect(line.hasSuffix("web  (default)  modifyRecords  private  iCloud.test  1 item  answered"))
    let event = try await json.output.line { _ in true }
    let object = try JSONSerialization.jsonObject(with: Data(event.utf8)) as? [String: Any]
    #expect(object?["kind"] as? String == "request", "\(event)")
    json.send(SIGINT)
    #expect(await json.exitCode() == 0)
    #expect(await cloud.stop() == 0)
    _ = try await words.errors.line { $0 == "cloudsync: the server has stopped" }
    #expect(await words.exitCode() == 69)
  }
}
