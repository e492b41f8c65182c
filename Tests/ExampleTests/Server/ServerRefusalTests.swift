import Foundation
import Testing

@Suite("cloudsync: saved states, and what it refuses")
struct ServerRefusalTests {
  /// Proves S9.
  @Test("A saved state is shown and compared, and the exit code reports a difference")
  func savedStatesAreShownAndCompared() async throws {
    let stores = try StoresTool()
    let tool = try ServerTool()
    let state = stores.home.appendingPathComponent(
      "devices/default/data/itsypad/cloud-sync-state.data")
    try await stores.good("tabs", "add", "A", "--text", "a")
    try await stores.good("tabs", "sync")
    let old = tool.path("old")
    try FileManager.default.copyItem(atPath: state.path, toPath: old)
    try await stores.good("tabs", "add", "B", "--text", "b")
    try await stores.good("tabs", "sync")
    let shown = try await tool.good("state", "show", old)
    #expect(shown.contains("zone tokens (") && shown.contains("database token"), "\(shown)")
    let json = try await tool.run(["state", "show", old, "--json"]).json()
    #expect(json["zoneTokens"] != nil || json["zones"] != nil, "\(json.keys)")

    let damaged = tool.path("damaged")
    try Data("{\"data\":\"AAAA\"}".utf8).write(to: URL(fileURLWithPath: damaged))
    let cases: [([String], CInt, String)] = [
      ([old, old], 0, ""), ([old, state.path], 1, "~ "), ([old, damaged], 2, ""),
      ([old, tool.path("missing")], 2, ""),
    ]
    for (files, code, words) in cases {
      let run = try await tool.run(["state", "diff"] + files)
      #expect(run.code == code && run.output.hasPrefix(words), "\(files): \(run.output)")
      #expect(run.errors.isEmpty == (code < 2), "\(run.errors)")
      #expect((code == 1) != run.output.isEmpty, "\(files): \(run.output)")
    }
    let missing = try await tool.run(["state", "show", tool.path("missing")])
    #expect(missing.code == 66 && missing.output.isEmpty)
    #expect(missing.errors.hasPrefix("cloudsync: there is no file"), "\(missing.errors)")
    let foreign = tool.path("foreign")
    try Data("root:x:0:0".utf8).write(to: URL(fileURLWithPath: foreign))
    #expect(try await tool.run(["state", "show", foreign]).code == 65)
  }

  @Test("An archive never replaces the server's file, however its path is written")
  func archiveNeverReplacesTheServersFile() async throws {
    let tool = try ServerTool()
    let data = tool.path("data.sqlite")
    let cloud = try await tool.serve("--data", data)
    #expect(try await cloud.save("n1") == 200)
    #expect(await cloud.stop() == 0)
    let link = tool.path("link.jsonl")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: data)
    for path in [data, tool.path("./data.sqlite"), link] {
      for command in [["export", "--output", path], ["serve", "--export-on-exit", path]] {
        let run = try await tool.run(command + ["--data", data])
        #expect(run.code == 64 && run.errors.contains("is the server's file"), "\(run.errors)")
      }
    }
    #expect(try await tool.good("inspect", "records", "--data", data).contains("n1"))
  }

  @Test("An invalid command line exits with code 64 and refers to the help")
  func invalidServerCommandExitsWithCode64() async throws {
    let tool = try ServerTool()
    let cases: [([String], String, String)] = [
      ([], "a command is missing", "cloudsync help"),
      (["frobnicate"], "unknown command \"frobnicate\"", "cloudsync help"),
      (["help", "frobnicate"], "there is no help about", "cloudsync help"),
      (["serve", "--bogus"], "unknown option --bogus", "cloudsync help serve"),
      (["serve", "--port", "65536"], "is not a port", "cloudsync help serve"),
      (["serve", "--port"], "--port needs a value", "cloudsync help serve"),
      (["serve", "--port", "1", "--port", "2"], "given twice", "cloudsync help serve"),
      (["serve", "now"], "unexpected argument \"now\"", "cloudsync help serve"),
      (["serve", "--yes"], "--yes means nothing here", "cloudsync help serve"),
      (["serve", "--allow-origin", "localhost"], "is not an origin", "cloudsync help serve"),
      (["serve", "--", "ls"], "-- is for exec only", "cloudsync help serve"),
      (["exec", "ls"], "write -- and the command", "cloudsync help exec"),
      (["exec", "sh", "-c", "true"], "write -- before", "cloudsync help exec"),
      (["stop"], "--control-token T; or set", "cloudsync help stop"),
      (["exec", "--"], "write -- and the command", "cloudsync help exec"),
      (["inspect"], "say which server", "cloudsync help inspect"),
      (["inspect", "everything", "--data", "x"], "cannot inspect", "cloudsync help inspect"),
      (["inspect", "--data", "x", "--server", "http://x"], "not both", "cloudsync help inspect"),
      (["inspect", "--server", "ftp://x"], "is not a server address", "cloudsync help inspect"),
      (["inspect", "--server", "http://x"], "control token is missing", "cloudsync help inspect"),
      (
        ["inspect", "zones", "--zone", "x", "--data", "x"], "means nothing",
        "cloudsync help inspect"
      ),
      (
        ["inspect", "records", "--limit", "-1", "--data", "x"], "--limit", "cloudsync help inspect"
      ),
      (
        ["inspect", "subscriptions", "--public", "--data", "x"], "--scope public",
        "cloudsync help inspect"
      ),
      (["watch", "--data", "x"], "needs a running server", "cloudsync help watch"),
      (
        ["faults", "break", "--server", "http://x", "--control-token", "x"], "not \"break\"",
        "cloudsync help faults"
      ),
      (["reset", "--data", "x"], "add --yes", "cloudsync help reset"),
      (["import", "--data", "x"], "is missing", "cloudsync help import"),
      (["state", "show"], "the file is missing", "cloudsync help state"),
      (["state", "diff", "x"], "the new file is missing", "cloudsync help state"),
    ]
    for (arguments, words, hint) in cases {
      let run = try await tool.run(arguments)
      #expect(run.code == 64 && run.output.isEmpty, "\(arguments): \(run.code) \(run.output)")
      #expect(run.errors.hasPrefix("cloudsync: ") && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.hasSuffix("\nTry: \(hint)\n"), "\(run.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path).isEmpty)
  }

  @Test("Every command has help, and a wrong token, a lost server and a missing file are reported")
  func commandsHaveHelpAndReportErrors() async throws {
    let tool = try ServerTool()
    let overview = try await tool.good("help")
    let commands = [
      "serve", "exec", "inspect", "watch", "faults", "export", "import", "reset", "state", "man",
      "token",
    ]
    for command in commands {
      #expect(overview.contains("\n  \(command) "), "\(command) is not in the overview")
      let help = try await tool.good(command, "--help")
      #expect(help.hasPrefix("Usage: cloudsync \(command)"))
      #expect(try await tool.good("help", command) == help)
    }
    #expect(try await tool.good("--version").hasPrefix("cloudsync "))
    let cloud = try await tool.serve()
    let wrong = try await tool.run(
      ["inspect", "--control-token", "wrong"], environment: cloud.environment)
    #expect(wrong.code == 77 && wrong.errors.contains("does not accept this control token"))
    #expect(await cloud.stop() == 0)
    let lost = try await tool.run(["inspect"], environment: cloud.environment)
    #expect(lost.code == 69)
    #expect(lost.errors == "cloudsync: no server answers at \(cloud.url); is it running?\n")
    for command in [["inspect"], ["export"], ["reset", "--yes"]] {
      let run = try await tool.run(command + ["--data", tool.path("missing")])
      #expect(run.code == 66 && run.errors.contains("there is no file"), "\(run.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path).isEmpty)
  }

  @Test("A command whose output pipe is closed ends without a message")
  func closedOutputEndsCommandSilently() async throws {
    let tool = try ServerTool()
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let run = try await tool.run(["help"], output: pipe.fileHandleForWriting)
    #expect(run.code == 128 + SIGPIPE && run.errors.isEmpty, "\(run.code) \(run.errors)")
  }
}
