import Foundation
import Testing

@Suite("The stores tool: what it refuses, and what it survives")
struct StoresRefusalTests {
  @Test("An invalid command line exits with code 64, a message and a hint, and creates nothing")
  func invalidCommandLineExitsWithItsCode() async throws {
    let tool = try StoresTool()
    let cases: [([String], String)] = [
      ([], "say what to do"),
      (["tabz"], "unknown store or command \"tabz\"; did you mean tabs? There are tabs, clip"),
      (["florp"], "unknown store or command \"florp\"; there are tabs, clipboard, results,"),
      (["tabs", "lisst"], "tabs can't \"lisst\"; did you mean list?"),
      (["help", "demmo"], "there is no help about \"demmo\"; did you mean demo?"),
      (["demo", "--store", "tab"], "there is no store \"tab\"; there are tabs"),
      (["tabs", "list", "--store", "tabs"], "--store means nothing here"),
      (["tabs"], "a verb for tabs is missing"),
      (["tabs", "fly"], "tabs can't \"fly\""),
      (["clipboard", "fly"], "clipboard can't \"fly\""),
      (["results", "fly"], "results can't \"fly\""),
      (["account", "fly"], "account can't \"fly\""),
      (["tabs", "add"], "name is missing"),
      (["tabs", "add", "A"], "say what is in the tab"),
      (["tabs", "add", "A", "--text", "a", "-"], "give the text once"),
      (["tabs", "add", "A", "--text"], "--text needs a value"),
      (["tabs", "add", "A", "--text", "a", "--text", "b"], "--text is given twice"),
      (["tabs", "edit", "1"], "say what to change"),
      (["tabs", "list", "all"], "unexpected argument \"all\""),
      (["tabs", "list", "--limit", "3"], "--limit means nothing here"),
      (["tabs", "sync", "maybe"], "sync is turned on or off"),
      (["--colour", "tabs", "list"], "unknown option --colour; did you mean --color?"),
      (["-x", "tabs", "list"], "unknown option -x"),
      (["--color", "sometimes", "tabs", "list"], "--color is auto, always or never"),
      (["completion"], "the shell is missing"),
      (["completion", "tcsh"], "there is no completion for \"tcsh\""),
      (["--json=1", "tabs", "list"], "--json takes no value"),
      (["clipboard", "list", "--limit", "0"], "--limit needs a whole number"),
      (["clipboard", "prune", "--older-than", "soon"], "not a length of time"),
      (["clipboard", "prune", "--older-than", "-3d"], "not a length of time"),
      (["help", "nothing"], "there is no help about"),
      (["tabz\u{1B}[31m"], "unknown store or command \"tabz [31m\""),
    ]
    for (arguments, words) in cases {
      let run = try await tool.run(arguments)
      #expect(run.code == 64, "\(arguments)")
      #expect(run.output.isEmpty, "\(arguments)")
      #expect(run.errors.hasPrefix("stores: ") && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.contains("\nTry: stores "), "\(run.errors)")
    }
    #expect(try tool.snapshot().isEmpty)
  }

  @Test("With --json an error is one line of JSON on the error output, with its code and the help")
  func errorsAreJSONIfAskedFor() async throws {
    let tool = try StoresTool()
    for (arguments, code, words, help) in [
      (["--json", "tabz"], 64, "did you mean tabs?", "stores --help"),
      (["tabs", "--json", "lisst"], 64, "did you mean list?", "stores help tabs"),
      (["--json", "--device", "../up", "tabs", "list"], 64, "is not a valid device name", nil),
    ] as [([String], Int, String, String?)] {
      let run = try await tool.run(arguments)
      #expect(run.code == code && run.output.isEmpty, "\(arguments)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(run.errors.utf8)) as? [String: Any]
      #expect(object?["code"] as? Int == code, "\(run.errors)")
      #expect((object?["error"] as? String)?.contains(words) == true, "\(run.errors)")
      #expect(object?["help"] as? String == help, "\(run.errors)")
    }
    #expect(try await tool.good("--version") == "stores 0.1.0\n")
    #expect(try tool.snapshot().isEmpty)
  }

  @Test("The --help option works for every command and creates nothing")
  func helpOptionWorksWithoutSideEffects() async throws {
    let tool = try StoresTool()
    let topics = ["tabs", "clipboard", "results", "sync", "account", "demo", "reset"]
    let lines =
      [["--help"], ["-h"], ["help"], ["tabs", "add", "--help"], ["results", "--help"]]
      + topics.map { ["help", $0] } + topics.map { [$0, "--help"] }
    for arguments in lines {
      let help = try await tool.run(arguments)
      #expect(help.code == 0 && help.errors.isEmpty, "\(arguments)")
      #expect(help.output.hasPrefix("Usage: stores"), "\(arguments)")
    }
    #expect(try tool.snapshot().isEmpty)
  }

  /// Proves X4.
  @Test("A command that cannot be done exits with its code, an error message and no changes")
  func failedCommandExitsWithItsCode() async throws {
    let tool = try StoresTool()
    for number in 1...40 {
      _ = try await tool.run(["tabs", "add", "A\(number)", "--text", "a"])
    }
    try await tool.good("results", "add", input: "Wordle 1,111 X/6\n\n⬛⬛⬛⬛⬛\n")
    try await tool.good("tabs", "sync")
    let list = try await tool.run(["--json", "tabs", "list"]).json()
    let ids = try #require(list["tabs"] as? [[String: Any]]).compactMap { $0["id"] as? String }
    let firsts = Dictionary(grouping: ids) { $0.prefix(1) }
    let ambiguous = try #require(firsts.values.first { $0.count > 1 }?.first).prefix(1)
    let binary = try tool.file("binary", Data([0xFF, 0xFE, 0x00]))
    let folder = (binary as NSString).deletingLastPathComponent
    let missing = "\(folder)/missing"
    let cases: [([String], String, CInt, String)] = [
      (["tabs", "show", "no-such-id"], "", 67, "there is no tab with the ID \"no-such-id\""),
      (["tabs", "show", ""], "", 67, "there is no tab with the ID"),
      (["tabs", "close", String(ambiguous)], "", 1, "tab IDs; give more of it"),
      (["tabs", "edit", "zz", "--text", "b"], "", 67, "there is no tab"),
      (["tabs", "language", "zz", "swift"], "", 67, "there is no tab"),
      (["clipboard", "delete", "zz"], "", 67, "there is no clipboard entry"),
      (["clipboard", "add"], "", 65, "there is no text to add"),
      (["results", "delete", "zz"], "", 67, "there is no result with the ID \"zz\"; there are "),
      (["tabs", "add", "A", "--file", missing], "", 66, "there is no file"),
      (["tabs", "add", "A", "--file", folder], "", 66, "is a folder, not a file"),
      (["tabs", "add", "A", "--file", binary], "", 65, "is not UTF-8 text"),
      (["tabs", "import", missing], "", 66, "there is no folder or file"),
      (["tabs", "import", binary], "", 65, "is not an export of the key-value store"),
      (["results", "import", missing], "", 66, "there is no file"),
      (["results", "add"], "", 65, "There is no text"),
      (["results", "add"], "hello there", 65, "No result was found"),
      (["results", "add"], "Wordle 1,956 9/6\n\n🟩🟩🟩🟩🟩", 65, "Wordle"),
      (["results", "list", "--game", "chess"], "", 67, "there is no game \"chess\""),
      (["results", "streaks", "chess"], "", 67, "there is no game"),
      (["achievements", "earn", "foo", "3"], "", 67, "there is no achievement \"foo\""),
      (["leaderboard", "friend", "add", "XYZ"], "", 64, "a friend code has 8 characters"),
      (["--home", "/proc/x", "tabs", "list"], "", 73, "cannot make the folder /proc/x"),
      (["--device", "../up", "tabs", "list"], "", 64, "is not a valid device name"),
      (["--device", ".", "tabs", "list"], "", 64, "is not a valid device name"),
      (["--account", "zoe", "tabs", "list"], "", 1, "is signed in as \"default\""),
      (["account", "switch", "default"], "", 1, "already"),
      (["account", "switch", ""], "", 64, "is not a valid account name"),
      (["account", "switch", "a\nb"], "", 64, "is not a valid account name"),
      (["reset"], "", 1, "add --force"),
    ]
    // Whoever closes the server's file last folds its log into it, which moves bytes but changes
    // nothing: let that be done before looking.
    _ = try await tool.run(["results", "delete", "zz"], input: Data())
    let before = try tool.snapshot()
    for (arguments, input, code, words) in cases {
      let run = try await tool.run(arguments, input: Data(input.utf8))
      #expect(run.code == code, "\(arguments)")
      #expect(run.output.isEmpty, "\(arguments): \(run.output)")
      #expect(run.errors.hasPrefix("stores: ") && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      let after = try tool.snapshot()
      // Whoever opens the server's file may tidy up beside it; its content is asked for below.
      let changed = Set(before.keys).union(after.keys).filter {
        !$0.hasPrefix("server.sqlite") && before[$0] != after[$0]
      }
      #expect(changed.isEmpty, "\(arguments) changed \(changed.sorted())")
    }
    let other = try await tool.good("--device", "other", "tabs", "sync")
    #expect(other.contains("received 40"), "\(other)")
  }

  @Test("Damaged files of the server and of a device are refused and left unchanged")
  func damagedFilesAreRefusedUnchanged() async throws {
    let tool = try StoresTool()
    try await tool.good("tabs", "add", "A", "--text", "a")
    try await tool.good("clipboard", "add", "a")
    try await tool.good("results", "add", input: "Wordle 1,111 X/6\n\n⬛⬛⬛⬛⬛\n")
    for store in ["tabs", "results"] { try await tool.good(store, "sync") }
    let cases = [
      ("server.sqlite", ["tabs", "sync"]),
      ("devices/default/device.json", ["tabs", "list"]),
      ("devices/default/data/itsypad/cloud-record-metadata.json", ["tabs", "list"]),
      ("devices/default/data/itsypad/cloud-record-metadata.json", ["clipboard", "list"]),
      ("devices/default/data/itsypad/cloud-sync-state.data", ["tabs", "sync"]),
      ("devices/default/data/results/results.journal", ["results", "list"]),
      ("devices/default/data/results/sync-state.data", ["results", "sync"]),
    ]
    for (name, command) in cases {
      let url = tool.home.appendingPathComponent(name)
      let good = try Data(contentsOf: url)
      var bad = good
      for position in stride(from: 0, to: min(200, bad.count), by: 3) {
        bad[bad.startIndex + position] ^= 0x15
      }
      try bad.write(to: url)
      let run = try await tool.run(command)
      #expect(run.code == 65 && run.output.isEmpty, "\(name): \(run.code) \(run.output)")
      #expect(!run.errors.contains("open with recovery"), "\(run.errors)")
      #expect(run.errors.hasPrefix("stores: "), "\(name): \(run.errors)")
      #expect(try Data(contentsOf: url) == bad, "\(name) was changed")
      try good.write(to: url)
      try await tool.good("tabs", "sync")
    }
  }

  /// Proves SC-163.
  @Test("Many concurrent runs, of one device and of several, lose nothing")
  func concurrentRunsLoseNothing() async throws {
    let tool = try StoresTool()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<12 {
        group.addTask {
          let device = "device\(number % 3)"
          let added = try await tool.run([
            "--device", device, "tabs", "add", "T\(number)", "--text", "\(number)",
          ])
          #expect(added.code == 0, "\(added.errors)")
          let synced = try await tool.run(["--device", device, "tabs", "sync"])
          #expect(synced.code == 0, "\(synced.errors)")
        }
      }
      try await group.waitForAll()
    }
    for device in 0..<3 {
      try await tool.good("--device", "device\(device)", "tabs", "sync")
      let list = try await tool.run(["--device", "device\(device)", "--json", "tabs", "list"])
        .json()
      let names = try #require(list["tabs"] as? [[String: Any]]).compactMap {
        $0["name"] as? String
      }
      #expect(names.sorted() == (0..<12).map { "T\($0)" }.sorted(), "device\(device)")
      #expect(list["unsent"] as? Int == 0)
    }
  }

  /// Proves I3.
  @Test("A process killed after any request of a sync loses nothing and duplicates nothing")
  func killedSyncLosesNothing() async throws {
    let tool = try StoresTool()
    var names: [String] = []
    var step = 1
    var endedWell = false
    while !endedWell {
      names.append("T\(step)")
      let died = try await tool.run(
        ["tabs", "add", "T\(step)", "--text", "\(step)"],
        environment: ["CLOUDSYNC_STORES_DIE_AFTER_COMMAND": "1"])
      #expect(died.code == -SIGKILL)
      let run = try await tool.run(
        ["tabs", "sync"], environment: ["CLOUDSYNC_STORES_DIE_AFTER_REQUEST": "\(step)"])
      endedWell = run.code == 0
      #expect(endedWell || run.code == -SIGKILL, "step \(step): \(run.errors)")
      step += 1
      try #require(step < 40, "a sync needs ever more requests")
    }
    #expect(step > 4, "no request of a sync was interrupted")
    for device in ["default", "desk"] {
      try await tool.good("--device", device, "tabs", "sync")
      let list = try await tool.run(["--device", device, "--json", "tabs", "list"]).json()
      let found = try #require(list["tabs"] as? [[String: Any]]).compactMap {
        $0["name"] as? String
      }
      #expect(found.sorted() == names.sorted(), "\(device)")
      #expect(list["unsent"] as? Int == 0)
    }
  }

  @Test(
    "The watch command shows another device's changes, blocks no other run and is interruptible")
  func watchShowsChangesUntilInterrupted() async throws {
    let tool = try StoresTool()
    try await tool.good("--device", "desk", "tabs", "sync")
    let watch = try RunningTool(
      tool.process(["--device", "desk", "--json", "tabs", "watch"]))
    // Its greeting comes after its first look, so what is opened now is news to it.
    _ = try await watch.errors.line { $0.contains("watching 0 tabs of desk") }
    let own = try await tool.run(["--device", "desk", "tabs", "add", "own", "--text", "a"])
    #expect(own.code == 0, "\(own.errors)")
    try await tool.good("--device", "phone", "tabs", "add", "others", "--text", "b")
    try await tool.good("--device", "phone", "tabs", "sync")
    let line = try await watch.output.line { $0.contains("others") }
    #expect(line.contains(#""change":"opened""#))
    watch.send(SIGINT)
    #expect(await watch.exitCode() == 0)
  }

  @Test("The demo succeeds inside the repository's folder and elsewhere, and reset removes all")
  func demoRunsInsideAndOutsideRepository() async throws {
    let tool = try StoresTool()
    let here = URL(fileURLWithPath: #filePath)
    let run = try await tool.run(["demo"], currentDirectory: here.deletingLastPathComponent())
    #expect(run.code == 0, "\(run.output)\n\(run.errors)")
    #expect(run.errors.isEmpty, "\(run.errors)")
    let last = try #require(run.output.split(separator: "\n").last)
    let pattern =
      #/converged: \d+ devices, (\d+) tabs, (\d+) clipboard entries, (\d+) results.* 0 diff\w+/#
    let figures = try #require(try pattern.wholeMatch(in: last), "\(last)")
    for figure in [figures.1, figures.2, figures.3] { #expect((Int(figure) ?? 0) > 5) }
    for words in [
      "anna shares a folder", "both are on anna's phone: yes", "the share is read-only",
      "after: 0 in memory, 0 in", "is one result: yes", "\n   itsypad ",
    ] {
      #expect(run.output.contains(words), "\(words)")
    }
    let elsewhere = try await tool.run(
      ["demo", "--store", "results"], currentDirectory: FileManager.default.temporaryDirectory)
    #expect(elsewhere.code == 0 && elsewhere.errors.isEmpty, "\(elsewhere.errors)")
    #expect(try await tool.good("reset", "--force") == "removed the server and all devices\n")
    #expect(try tool.snapshot().keys.allSatisfy { $0 == "lock" })
    #expect(try await tool.good("reset", "--force").hasPrefix("there is nothing to remove"))
  }

  @Test("demo --store plays one store alone, and its device has that store only")
  func demoRunsOneStoreAlone() async throws {
    let tool = try StoresTool()
    let run = try await tool.run(["demo", "--store", "results", "--json"])
    #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
    let ending = try run.json()
    #expect((ending["items"] as? [String: Int])?.keys.sorted() == ["result"])
    #expect(ending["differences"] as? [String] == [] && ending["failures"] as? [String] == [])
    let names = try tool.snapshot().keys
    #expect(names.contains { $0.contains("phone/data/results/") })
    #expect(!names.contains { $0.contains("/itsypad/") })
  }

  @Test("A sync of all stores continues when one store cannot be synced, and reports the failure")
  func syncContinuesPastFailedStore() async throws {
    let tool = try StoresTool()
    try await tool.good("tabs", "sync", "on")
    try await tool.good("tabs", "sync", "off")
    try await tool.good("results", "add", input: "Wordle 1,111 X/6\n\n⬛⬛⬛⬛⬛\n")
    let run = try await tool.run(["sync"])
    #expect(run.code == 1 && run.output.contains("results: 1 result, 0 waiting"), "\(run.output)")
    #expect(run.errors.contains("sync is off on this device"), "\(run.errors)")
    try await tool.good("--device", "desk", "results", "sync")
    #expect(try await tool.good("--device", "desk", "results", "list").contains("Wordle"))
  }
}
