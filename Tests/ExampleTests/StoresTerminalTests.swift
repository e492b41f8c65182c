import Foundation
import Testing

@Suite("The stores tool: on a terminal, and in a shell")
struct StoresTerminalTests {
  private static let name = "An idea with a name that is much longer than any terminal 名前名前名前"

  @Test("A list fits the terminal's width, with colours where they are wanted")
  func terminal() async throws {
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
    #expect(always.contains("\u{1B}[33m* \(Self.name)"), "in full, with colours: \(always)")
    let json = try await PseudoTerminal(columns: 50).run(
      try tool.process(["--json", "tabs", "list"], ["TERM": "xterm"]))
    #expect(!json.contains("\u{1B}") && json.contains(Self.name))
    let failed = try await PseudoTerminal(columns: 50).run(
      try tool.process(["tabs", "show", "zz"], ["TERM": "xterm", "NO_COLOR": ""]))
    #expect(failed.contains("\u{1B}[31mstores:\u{1B}[0m there is no tab"), "\(failed)")
  }

  @Test("bash completes commands, verbs, options, choices and devices from the tool's own usages")
  func completion() async throws {
    let tool = try StoresTool()
    try await tool.good("--device", "phone", "tabs", "list")
    let cases: [([String], [String])] = [
      (["ta"], ["tabs"]), (["results", "s"], ["status", "streaks", "sync"]),
      (["tabs", "sync", ""], ["off", "on"]), (["clipboard", "prune", "--o"], ["--older-than"]),
      (["--device", ""], ["phone"]), (["demo", "--store", "cl"], ["clipboard"]),
      (["help", "se"], ["server"]), (["tabs", "add", "n", "--file", ""], ["FILES"]),
      (["tabs", "import", ""], ["FILES"]), (["completion", "b"], ["bash"]),
      (["--device", "phone", "account", "sw"], ["switch"]), (["florp", ""], []),
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
      let process = try tool.process([])
      process.environment?["STORES"] = process.executableURL?.path
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      process.arguments = ["--norc", "-c", script, "bash"] + words
      let run = try await BuiltTool.run(process)
      #expect(run.code == 0 && run.errors == "complete -F _stores stores\n", "\(run.errors)")
      #expect(run.output.split(separator: "\n").map(String.init) == expected, "\(words)")
    }
    for shell in ["zsh", "fish"] {
      #expect(try await tool.good("completion", shell).contains("complete"))
    }
  }
}
