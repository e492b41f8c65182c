import Foundation
import Testing
import VerificationSupport

@Suite("The stores tool: on a terminal, and in a shell")
struct StoresTerminalTests {
  private static let name = "An idea with a name that is much longer than any terminal 名前名前名前"

  @Test("A list fits the terminal's width, with colors where they are enabled")
  func listFitsTerminalWithColors() async throws {
    let tool = try StoresTool()
    try await tool.good("tabs", "add", Self.name, "--text", "a")
    let full = try await tool.good("tabs", "list")
    #expect(full.contains(Self.name) && !full.contains("\u{1B}") && !full.contains("…"))
    let cases: [(options: [String], environment: [String: String], columns: Int, colors: Bool)] = [
      ([], ["TERM": "xterm"], 50, true), ([], ["TERM": "xterm", "COLUMNS": "70"], 70, true),
      ([], ["TERM": "xterm", "NO_COLOR": "1"], 50, false), ([], ["TERM": "dumb"], 50, false),
      (["--color", "never"], ["TERM": "xterm"], 50, false),
      (["--color", "always"], ["TERM": "dumb"], 50, true),
    ]
    for (options, environment, columns, colors) in cases {
      let all = ["COLUMNS": "", "NO_COLOR": ""].merging(environment) { $1 }
      let printed = try await PseudoTerminal(columns: 50).run(
        try tool.process(options + ["tabs", "list"], all))
      #expect(printed.contains("\u{1B}[") == colors, "\(options) \(environment): \(printed)")
      let plain = printed.replacing(#/\u{1B}\[[0-9]+m/#, with: "")
      let lines = plain.split(separator: "\n")
      #expect(lines.first?.hasPrefix("ID ") == true && plain.contains("…"), "\(plain)")
      // The wide letters come last in the name, so none of them is left.
      #expect(lines.dropLast().allSatisfy { $0.count <= columns }, "\(plain)")
      #expect(lines.dropLast().contains { $0.count == columns }, "\(plain)")
    }
    let always = try await tool.good("--color=always", "tabs", "list")
    #expect(always.contains("\u{1B}[33m* \(Self.name)"), "in full, with colors: \(always)")
    let json = try await PseudoTerminal(columns: 50).run(
      try tool.process(["--json", "tabs", "list"], ["TERM": "xterm"]))
    #expect(!json.contains("\u{1B}") && json.contains(Self.name))
    let failed = try await PseudoTerminal(columns: 50).run(
      try tool.process(["tabs", "show", "zz"], ["TERM": "xterm", "NO_COLOR": ""]))
    #expect(failed.contains("\u{1B}[31mstores:\u{1B}[0m there is no tab"), "\(failed)")
  }

  @Test("A program that prints more than a terminal buffer holds runs to its end")
  func largeTerminalOutputCompletes() async throws {
    let process = ToolProcess(
      program: URL(fileURLWithPath: "/bin/sh"),
      arguments: ["-c", "head -c 100000 /dev/zero | tr '\\0' a"])
    let printed = try await PseudoTerminal(columns: 60).run(process)
    #expect(printed.count == 100_000 && printed.allSatisfy { $0 == "a" })
  }

  @Test("In bash, commands, verbs, options, choices and devices complete from the tool's usages")
  func bashCompletionFollowsToolUsages() async throws {
    let tool = try StoresTool()
    try await tool.good("--device", "phone", "tabs", "list")
    let cases: [([String], [String])] = [
      (["ta"], ["tabs"]), (["results", "s"], ["status", "streaks", "sync"]),
      (["tabs", "sync", ""], ["off", "on"]), (["clipboard", "prune", "--o"], ["--older-than"]),
      (["--device", ""], ["phone"]), (["demo", "--store", "cl"], ["clipboard"]),
      (["help", "se"], ["server"]), (["tabs", "add", "n", "--file", ""], ["FILES"]),
      (["tabs", "import", ""], ["FILES"]), (["completion", "b"], ["bash"]),
      (["--device", "phone", "account", "sw"], ["switch"]),
      (["results", "streaks", "Mini"], ["Mini\\ Crossword"]), (["florp", ""], []),
    ]
    let script = """
      source <("$STORES" completion bash)
      compopt() { COMPREPLY=(FILES); }
      COMP_WORDS=("$STORES" "$@"); COMP_CWORD=$#
      _stores
      [[ ${COMPREPLY[0]} == FILES ]] || compopt() { :; }
      for word in "${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
      complete -p stores >&2
      """
    for (words, expected) in cases {
      var process = try tool.process([])
      process.environment["STORES"] = process.program.path
      process.program = URL(fileURLWithPath: "/bin/bash")
      process.arguments = ["--norc", "-c", script, "bash"] + words
      let run = try await BuiltTool.run(process)
      #expect(run.code == 0 && run.errors == "complete -F _stores stores\n", "\(run.errors)")
      #expect(run.output.split(separator: "\n").map(String.init) == expected, "\(words)")
    }
    for shell in ["zsh", "fish"] {
      #expect(try await tool.good("completion", shell).contains("complete"))
    }
  }

  @Test("Completion offers a device's items by ID, games by name and accounts, without waiting")
  func completionOffersItemsWithoutWaiting() async throws {
    let tool = try StoresTool()
    let opened = try await tool.run(
      ["--device", "phone", "--json", "tabs", "add", "A\tB", "--text", "a"]
    ).json()
    let id = try #require(opened["id"] as? String)
    try await tool.good("--device", "phone", "results", "add", input: "Wordle 1,956 X/6\n\n⬛⬛⬛⬛⬛")
    try await tool.good("--account", "anna", "clipboard", "add", "a")
    let known = id.prefix(5)
    let cases: [([String], String)] = [
      (["--device", "phone", "tabs", "show", ""], "\(id)\tA B  (plain, 1 B)\n"),
      (["--device=phone", "tabs", "edit", String(known)], "\(id)\tA B  (plain, 1 B)\n"),
      (
        ["--device", "phone", "tabs", "close", known.lowercased()],
        known.lowercased() == known
          ? "\(id)\tA B  (plain, 1 B)\n" : "\(id.lowercased())\tA B  (plain, 1 B)\n"
      ),
      (["--device", "phone", "tabs", "language", id, ""], ""),
      (["tabs", "show", ""], ""), (["--device", "nobody", "tabs", "show", ""], ""),
      (["--home", "/nowhere", "tabs", "show", ""], ""), (["--home", "", "tabs", "show", ""], ""),
      (["--server", "florp", "tabs", "show", ""], ""), (["tabs", "show", id, ""], ""),
      (["results", "streaks", "Conn"], "Connections\n"),
      (["results", "list", "--game", "Conn"], "Connections\n"),
      (["account", "switch", ""], "anna\ndefault\n"), (["--account", "a"], "anna\n"),
      (["tabs", "sho"], "show\tprint the tab's text\n"), ([], "*"), (["--", "-"], "*"),
    ]
    let before = try tool.snapshot()
    for (words, expected) in cases {
      let answer = try await tool.run(["complete"] + words)
      #expect(answer.code == 0 && answer.errors.isEmpty, "\(words): \(answer.errors)")
      if expected != "*" { #expect(answer.output == "words\n" + expected, "\(words)") }
    }
    #expect(try tool.snapshot() == before, "looking changes nothing")

    let file = try #require(
      before.keys.first { $0.hasSuffix("phone/data/itsypad/cloud-record-metadata.json") })
    try Data("{".utf8).write(to: tool.home.appendingPathComponent(file))
    #expect(try await tool.good("complete", "--device", "phone", "tabs", "show", "") == "words\n")
  }

  /// Proves X4.
  @Test("A slow sync shows its progress, on a terminal only, and clears it")
  func slowSyncShowsProgressOnTerminal() async throws {
    let tool = try StoresTool()
    let text = String(repeating: "a", count: 2_000)
    for number in 1...3_000 { _ = try tool.file("f\(number).md", Data(text.utf8)) }
    let folder = tool.home.appendingPathComponent("input").path
    try await tool.good("--device", "phone", "tabs", "import", folder)
    let phone = try await PseudoTerminal(columns: 60).run(
      try tool.process(["--device", "phone", "tabs", "sync"], ["TERM": "xterm", "COLUMNS": ""]))
    let desk = try await PseudoTerminal(columns: 60).run(
      try tool.process(["--device", "desk", "tabs", "sync"], ["TERM": "xterm", "COLUMNS": ""]))
    let cases = [
      (phone, "of 3000 changes", "sent 3000, received 0"),
      (desk, "itsypad: received", "sent 0, received 3000"),
    ]
    for (printed, progress, result) in cases {
      let drawn = printed.components(separatedBy: "\r\u{1B}[K")
      #expect(drawn.contains { $0.contains(progress) }, "\(printed)")
      #expect(drawn.allSatisfy { $0.count < 60 }, "\(printed)")
      #expect(drawn.last?.contains(result) == true, "\(printed)")
    }
    let quiet = [
      (["--device", "new", "--json", "tabs", "sync"], "xterm"),
      (["--device", "newer", "tabs", "sync"], "dumb"),
    ]
    for (arguments, term) in quiet {
      let run = try await PseudoTerminal(columns: 60).run(
        try tool.process(arguments, ["TERM": term]))
      #expect(!run.contains("\u{1B}"), "\(run)")
    }
  }
}
