import Foundation
import Testing

@Suite("The stores tool: what it does")
struct StoresJourneyTests {
  private static let wordle = "Wordle 1,956 2/6*\n\n⬛🟨🟩🟨🟩\n🟩🟩🟩🟩🟩\n"

  @Test("Separate runs of the tool send tabs to the other device, edit and close them")
  func separateRunsSyncTabs() async throws {
    let tool = try StoresTool()
    let text = "line 1\nlinie 2 é e\u{301} 🧩\n\u{7}no newline at the end"
    let opened = try await tool.run(
      ["--device", "phone", "--json", "tabs", "add", "Ideas.swift", "-"], input: Data(text.utf8)
    ).json()
    let id = try #require(opened["id"] as? String)
    #expect(opened["language"] as? String == "swift" && opened["unsent"] as? Bool == true)
    let sent = try await tool.good("--device", "phone", "tabs", "sync")
    #expect(sent.hasPrefix("tabs and clipboard: sent 1, received 0"))
    let received = try await tool.good("--device=desk", "tabs", "sync")
    #expect(received.contains("received 1"))
    let shown = try await tool.good("--device", "desk", "tabs", "show", String(id.prefix(8)))
    #expect(Array(shown.utf8) == Array(text.utf8), "the text did not arrive to the byte")

    try await tool.good("--device", "desk", "tabs", "edit", id, "--text", "new", "--name", "N")
    try await tool.good("--device", "desk", "tabs", "language", id, "rust")
    #expect(try await tool.good("--device", "desk", "tabs", "list").contains("* N  (rust, 3 B)"))
    try await tool.good("--device", "desk", "tabs", "sync")
    try await tool.good("--device", "phone", "tabs", "sync")
    #expect(try await tool.good("--device", "phone", "tabs", "show", id) == "new")
    try await tool.good("--device", "phone", "tabs", "close", id)
    try await tool.good("--device", "phone", "tabs", "sync")
    try await tool.good("--device", "desk", "tabs", "sync")
    #expect(try await tool.good("--device", "desk", "tabs", "list") == "no tabs\n")
  }

  @Test("Sync turned off on a device that never made a choice stays off until it is turned on")
  func disabledSyncStaysDisabled() async throws {
    let tool = try StoresTool()
    try await tool.good("tabs", "add", "A", "--text", "a")
    try await tool.good("tabs", "sync", "off")
    let refused = try await tool.run(["tabs", "sync"])
    #expect(refused.code == 1 && refused.errors.contains("sync is off on this device"))
    try await tool.good("tabs", "sync", "on")
    #expect(try await tool.good("tabs", "sync").contains("sent 1"))
  }

  @Test("After two offline edits of a tab, the later edit is on both devices")
  func laterOfflineTabEditWins() async throws {
    let tool = try StoresTool()
    let opened = try await tool.run(["--json", "tabs", "add", "A", "--text", "base"]).json()
    let id = try #require(opened["id"] as? String)
    try await tool.good("tabs", "sync")
    try await tool.good("--device", "desk", "tabs", "sync")
    try await tool.good("tabs", "edit", id, "--text", "earlier")
    try await tool.good("--device", "desk", "tabs", "edit", id, "--text", "later")
    try await tool.good("tabs", "sync")
    let words = try await tool.good("--device", "desk", "tabs", "sync")
    #expect(words.contains("1 conflict: 1 kept this device's version"), "\(words)")
    try await tool.good("tabs", "sync")
    for device in ["default", "desk"] {
      #expect(try await tool.good("--device", device, "tabs", "show", id) == "later")
    }
  }

  @Test("Clipboard entries and results sync, streaks are computed, and prune and clear delete")
  func clipboardAndResultsSync() async throws {
    let tool = try StoresTool()
    try await tool.good("clipboard", "add", "first")
    try await tool.good("clipboard", "add", "--text", "second")
    try await tool.good("clipboard", "add", input: "third\nline")
    try await tool.good("clipboard", "sync")
    try await tool.good("--device", "desk", "clipboard", "sync")
    let list = try await tool.good("--device", "desk", "clipboard", "list")
    #expect(list.split(separator: "\n").count == 3 && list.contains("third line"))
    let two = try await tool.good("--device", "desk", "clipboard", "list", "--limit", "2")
    #expect(two.split(separator: "\n").count == 2)
    #expect(
      try await tool.good("clipboard", "prune", "--older-than", "7d") == "deleted 0 entries\n")
    #expect(
      try await tool.good("clipboard", "prune", "--older-than", "0s") == "deleted 3 entries\n")

    let added = try await tool.good("results", "add", input: Self.wordle)
    #expect(added.hasPrefix("added ") && added.contains("Wordle 2/6"))
    let again = try await tool.good("results", "add", input: Self.wordle)
    #expect(again.hasPrefix("known already"))
    try await tool.good("results", "sync")
    #expect(
      try await tool.good("--device", "desk", "results", "list").contains("stores results sync"))
    try await tool.good("--device", "desk", "results", "sync")
    #expect(try await tool.good("--device", "desk", "results", "list").contains("Wordle 2/6"))
    let streaks = try await tool.good("--device", "desk", "results", "streaks", "wordle")
    #expect(streaks.hasPrefix("Wordle  ") && streaks.hasSuffix("  1  1  1\n"), "\(streaks)")
    let status = try await tool.good("--device", "desk", "results", "status")
    #expect(status.contains("waiting to be sent: 0") && status.contains("account: default"))
    let id = try #require(added.split(separator: " ").dropFirst().first.map(String.init))
    try await tool.good("results", "delete", id)
    try await tool.good("results", "sync")
    try await tool.good("--device", "desk", "results", "sync")
    #expect(try await tool.good("--device", "desk", "results", "list") == "No results yet\n")
  }

  @Test(
    "A folder is imported once and again with changes only, and an export file is imported once")
  func repeatedImportTakesChangesOnly() async throws {
    let tool = try StoresTool()
    let path = try tool.file("a.md", Data("# A".utf8))
    _ = try tool.file("b.swift", Data("let b = 1".utf8))
    _ = try tool.file("c.bin", Data([0, 1, 2]))
    let folder = (path as NSString).deletingLastPathComponent
    let first = try await tool.run(["tabs", "import", folder])
    #expect(first.output == "2 tabs opened, 0 changed, 0 as before; 1 file left out\n")
    #expect(first.errors == "left out \"c.bin\": it is no text\n")
    _ = try tool.file("a.md", Data("# A, changed".utf8))
    let second = try await tool.run(["tabs", "import", folder])
    #expect(second.output == "0 tabs opened, 1 changed, 1 as before; 1 file left out\n")

    let export = try tool.file(
      "export.json",
      Data(
        """
        {"tabs": [{"id": "00000000-0000-4000-8000-000000000001", "name": "old", "content": "x",
                   "lastModified": 700000000}],
         "clipboard": [{"id": "00000000-0000-4000-8000-000000000002", "text": "y",
                        "timestamp": 700000000}]}
        """.utf8))
    let moved = try await tool.good("tabs", "import", export)
    #expect(moved.hasPrefix("1 tab and 1 clipboard entry moved in"))
    #expect(try await tool.good("tabs", "import", export).hasPrefix("moved in before"))
  }

  @Test("Another account finds nothing, and the first account finds all its data again")
  func otherAccountFindsNoData() async throws {
    let tool = try StoresTool()
    try await tool.good("--account", "anna", "tabs", "add", "A", "--text", "annas-secret")
    try await tool.good("clipboard", "add", "annas-copy")
    try await tool.good("results", "add", input: Self.wordle)
    #expect(try await tool.good("account").contains("signed in as anna"))
    let left = try await tool.good("account", "switch", "ben")
    #expect(left == "the device default is signed in as ben; 3 items of anna removed from it\n")
    #expect(try await tool.good("tabs", "list") == "no tabs\n")
    let traces = try tool.snapshot().filter { name, data in
      name.hasPrefix("devices")
        && ["annas-", "Wordle"].contains { data.range(of: Data($0.utf8)) != nil }
    }
    #expect(traces.isEmpty, "\(traces.keys)")
    try await tool.good("tabs", "add", "B", "--text", "bens")
    try await tool.good("account", "sign-out")
    #expect(try await tool.run(["tabs", "sync"]).errors.contains("no account is signed in"))
    let back = try await tool.good("account", "switch", "anna")
    #expect(back == "the device default is signed in as anna\n")
    for store in ["tabs", "results"] { try await tool.good(store, "sync") }
    #expect(try await tool.good("tabs", "list").contains("A  (plain, 12 B)"))
    #expect(try await tool.good("clipboard", "list").contains("annas-copy"))
    #expect(try await tool.good("results", "list").contains("Wordle 2/6"))
  }

  @Test("Items made while signed out are kept and sent by the account that signs in")
  func itemsMadeWhileSignedOutAreKept() async throws {
    let tool = try StoresTool()
    try await tool.good("account", "sign-out")
    try await tool.good("tabs", "add", "A", "--text", "early-tab")
    try await tool.good("clipboard", "add", "early-copy")
    try await tool.good("results", "add", input: Self.wordle)
    try await tool.good("achievements", "earn", "played", "10")
    try await tool.good("leaderboard", "publish", "Wordle", "3")
    try await tool.good("ideas", "add", "early-idea")
    try await tool.good("annotations", "layer", "add", "early-layer")
    let signedIn = try await tool.good("account", "switch", "carl")
    #expect(signedIn.hasPrefix("the device default is signed in as carl; "))
    #expect(signedIn.hasSuffix(" items made while signed out kept\n"))
    try await tool.good("achievements", "sync", "on")
    try await tool.good("sync")
    let other = ["--device", "other", "--account", "carl"]
    for (store, words) in [
      ("tabs", ["list"]), ("clipboard", ["list"]), ("results", ["list"]),
      ("leaderboard", ["show"]), ("ideas", ["list"]), ("annotations", ["layer", "list"]),
    ] {
      let kept = try await tool.run([store] + words)
      _ = try await tool.run(other + [store, "sync"])
      let received = try await tool.run(other + [store] + words)
      #expect(kept.code == 0 && kept.output == received.output, "\(store): \(received.output)")
      #expect(!received.output.hasPrefix("no "), "\(store)")
    }
  }

  /// Proves X4.
  @Test("With --json every command prints one JSON document and nothing else")
  func jsonOptionPrintsOneDocument() async throws {
    let tool = try StoresTool()
    let file = try tool.file("texts.txt", Data(Self.wordle.utf8))
    let tab = try await tool.run(["--json", "tabs", "add", "A", "--text", "a"]).json()
    let entry = try await tool.run(["--json", "clipboard", "add", "a"]).json()
    let result = try await tool.run(["--json", "results", "import", file]).json()
    let ids = try [
      #require(tab["id"] as? String), #require(entry["id"] as? String),
      #require((result["added"] as? [[String: Any]])?.first?["id"] as? String),
    ]
    let commands = [
      ["tabs", "edit", ids[0], "--text", "b"], ["tabs", "language", ids[0], "swift"],
      ["tabs", "list"], ["tabs", "show", ids[0]], ["tabs", "sync"],
      ["tabs", "import", (file as NSString).deletingLastPathComponent],
      ["tabs", "close", ids[0]], ["tabs", "sync", "off"], ["tabs", "sync", "on"],
      ["clipboard", "list"], ["clipboard", "delete", ids[1]], ["clipboard", "prune"],
      ["clipboard", "clear"], ["clipboard", "sync"], ["results", "list"], ["results", "streaks"],
      ["results", "status"], ["results", "sync"], ["results", "delete", ids[2]], ["account"],
      ["sync"], ["account", "switch", "ben"], ["account", "sign-out"], ["reset", "--force"],
    ]
    for command in commands {
      let run = try await tool.run(command + ["--json"])
      #expect(run.code == 0 && run.errors.isEmpty, "\(command): \(run.errors)")
      #expect(throws: Never.self, "\(command)") { try run.json() }
    }
  }
}
