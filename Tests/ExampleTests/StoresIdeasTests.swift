import Foundation
import Testing

@Suite("The stores tool: ideas")
struct StoresIdeasTests {
  @Test("I: Separate runs of the tool add, edit, finish, delete and import ideas")
  func separateRunsEditAndImportIdeas() async throws {
    let tool = try StoresTool()
    let added = try await tool.run(
      ["--device", "phone", "--json", "ideas", "add", "風箏", "-"], input: Data("line 1\nline 2".utf8)
    ).json()
    let id = try #require(added["id"] as? String)
    #expect(added["version"] as? Int == 0 && added["deviceId"] as? String == "phone")
    let sent = try await tool.good("--device", "phone", "ideas", "sync")
    #expect(sent == "ideas: sent 1, received 0\n")
    #expect(try await tool.good("--device", "desk", "sync").contains("ideas: sent 0, received 1"))
    let shown = try await tool.good("--device", "desk", "ideas", "show", String(id.prefix(6)))
    #expect(shown.contains("title: 風箏\n") && shown.hasSuffix("\n\nline 1\nline 2\n"))
    #expect(shown.contains("version 0, on phone"))
    #expect(
      try await tool.good("--device", "desk", "ideas", "done", id) == "version 1 of \(id)\n")
    try await tool.good("--device", "desk", "ideas", "edit", id, "--title", "Kite", "--text", "")
    #expect(
      try await tool.good("--device", "desk", "ideas", "list", "--completed").hasSuffix(
        "  * [x] Kite\n"))
    try await tool.good("--device", "desk", "ideas", "sync")
    try await tool.good("--device", "phone", "ideas", "sync")
    #expect(try await tool.good("--device", "phone", "ideas", "list").hasSuffix("    [x] Kite\n"))
    try await tool.good("--device", "phone", "ideas", "undone", id)
    #expect(
      try await tool.good("--device", "phone", "ideas", "list", "--completed")
        == "no completed ideas\n")
    try await tool.good("--device", "phone", "ideas", "delete", id)
    try await tool.good("--device", "phone", "ideas", "sync")
    #expect(try await tool.good("--device", "desk", "ideas", "sync").hasSuffix("received 1\n"))
    #expect(try await tool.good("--device", "desk", "ideas", "list") == "no ideas\n")
    let status = try await tool.good("--device", "desk", "ideas", "status")
    #expect(status.contains("ideas: 0, 0 completed, 1 deleted\nwaiting to be sent: 0\n"))
    let log = try await tool.good("--device", "desk", "ideas", "log")
    #expect(log.contains("  update  \(id.prefix(8)): Version 1.") && !log.contains("Kite"))
  }

  @Test("I: A CSV file is imported, bad rows are named by line, and any other file is refused")
  func importNamesBadRowsByLine() async throws {
    let tool = try StoresTool()
    let csv = "\u{FEFF}標題,描述,顏色\r\n好主意,\"一,二\",\r\n,空的,\r\n也好,,\r\n"
    let path = try tool.file("ideas.csv", Data(csv.utf8))
    let run = try await tool.run(["ideas", "import", path])
    #expect(run.code == 0 && run.output == "2 ideas added, 0 known already, 1 skipped\n")
    #expect(
      run.errors == """
        line 3 was skipped: the title is empty; give at least one character
        the column "顏色" was ignored

        """)
    #expect(try await tool.good("ideas", "list").split(separator: "\n").count == 2)
    let before = try tool.snapshot()
    let bad = try tool.file("bad.csv", Data("name\nx\n".utf8))
    let long = String(repeating: "x", count: 257)
    let cases: [([String], CInt, String)] = [
      (["import", bad], 65, "no column is called title"),
      (["import", "/nowhere.csv"], 66, "there is no file"), (["import"], 64, "a CSV file"),
      (["add", ""], 64, "the title is empty"), (["add", long], 64, "257 characters"),
      (["show", "zz"], 67, "there is no idea with the ID"), (["edit", "A"], 64, "what to change"),
      (["list", "--limit", "0"], 64, "whole number above 0"),
      (["latency", "--count", "x"], 64, "whole number above 0"),
    ]
    for (arguments, code, words) in cases {
      let run = try await tool.run(["ideas"] + arguments)
      #expect(run.code == code && run.errors.contains(words), "\(arguments): \(run.errors)")
      #expect(run.output.isEmpty)
    }
    #expect(try tool.snapshot() == before)
  }

  @Test("I: The demo of ideas ends with no differences")
  func ideaDemoEndsWithoutDifferences() async throws {
    let tool = try StoresTool()
    let words = try await tool.good("demo", "--store", "ideas")
    #expect(words.contains("5 ideas from a CSV file") && words.contains("\"the later title\""))
    #expect(words.contains("deleted here, then edited there: it is there, as edited"))
    #expect(words.hasSuffix(", 0 differences\n"))
  }

  @Test("I: A watch receives ideas of the default zone by push, and latency is measured over HTTP")
  func watchShowsIdeasPushedOverHTTP() async throws {
    let (cloud, tool) = (try await ServerTool().serve(), try StoresTool())
    let environment = cloud.environment.merging(["CLOUDSYNC_API_TOKEN": cloud.apiToken]) { $1 }
    let measured = try await tool.run(
      ["--json", "ideas", "latency", "--count", "20"], environment: environment
    ).json()
    #expect(measured["ideas"] as? Int == 20 && measured["server"] as? String == "over HTTP")
    let watch = try RunningTool(
      tool.process(["--device", "desk", "--json", "ideas", "watch"], environment))
    _ = try await watch.errors.line { $0.contains("watching 0 ideas of desk") }
    let clock = ContinuousClock()
    let phone = ["--device", "phone", "ideas"]
    let added = try await tool.run(
      phone.prefix(2) + ["--json", "ideas", "add", "kite"], environment: environment
    ).json()
    let id = try #require(added["id"] as? String)
    for (verb, change) in [([], #""change":"added""#), (["delete", id], #""change":"deleted""#)] {
      if !verb.isEmpty { try await tool.run(phone + verb, environment: environment) }
      try await tool.run(phone + ["sync"], environment: environment)
      let sent = clock.now
      _ = try await watch.output.line { $0.contains("kite") && $0.contains(change) }
      // Without a push it asks after 30 seconds.
      #expect(clock.now - sent < .seconds(20), "no push woke it up")
    }
    watch.send(SIGINT)
    #expect(await watch.exitCode() == 0)
    #expect(await cloud.stop() == 0)
  }
}
