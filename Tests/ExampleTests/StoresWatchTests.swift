import Foundation
import Testing

@Suite("The stores tool: what watch shows", .timeLimit(.minutes(20)))
struct StoresWatchTests {
  /// A command that another device carries out, and its input.
  private struct Command {
    var arguments: [String]
    var input = ""
  }

  /// For each store what makes an item, and what a line about it says.
  private static let additions: [String: (commands: [Command], words: String)] = [
    "tabs": ([Command(arguments: ["tabs", "add", "seen.md", "--text", "x"])], "seen.md"),
    "clipboard": ([Command(arguments: ["clipboard", "add", "seen from afar"])], "seen from afar"),
    "results": (
      [Command(arguments: ["results", "add"], input: "Wordle 1,956 2/6\n\n⬛🟨🟩🟨🟩\n🟩🟩🟩🟩🟩\n")],
      "Wordle"
    ),
    "achievements": (
      [
        Command(arguments: ["achievements", "sync", "on"]),
        Command(arguments: ["achievements", "earn", "played", "12"]),
      ], "played"
    ),
    "leaderboard": (
      [
        Command(arguments: ["leaderboard", "profile", "Anna afar"]),
        Command(arguments: ["leaderboard", "publish", "wordle", "3"]),
      ], "Anna afar"
    ),
    "ideas": ([Command(arguments: ["ideas", "add", "seen from afar"])], "seen from afar"),
    "annotations": (
      [
        Command(arguments: ["annotations", "layer", "add", "Garden"]),
        Command(arguments: ["annotations", "add", "Garden", "seen from afar"]),
      ], "seen from afar"
    ),
  ]

  /// All stores there are, as the tool itself names them.
  private static func stores() async throws -> [String] {
    let tool = try StoresTool()
    let words = try await tool.good("complete", "demo", "--store", "").split(separator: "\n")
    return words.dropFirst().compactMap { $0.split(separator: "\t").first.map(String.init) }
  }

  /// Watches on one device while another one makes an item.
  ///
  /// - Returns: the line about it, and how long after the other's sync it came.
  private static func watch(
    _ store: String, _ arguments: [String], _ tool: StoresTool, _ environment: [String: String]
  ) async throws -> (line: String, waited: Duration) {
    let addition = try #require(additions[store], "nothing is known to add to \(store)")
    if store == "achievements" {
      _ = try await tool.run(["--device", "desk", store, "sync", "on"], environment: environment)
    }
    let watch = try RunningTool(
      tool.process(["--device", "desk"] + arguments, environment))
    _ = try await watch.errors.line { $0.contains("watching ") && $0.contains("of desk") }
    for command in addition.commands {
      let run = try await tool.run(
        ["--device", "phone"] + command.arguments, input: Data(command.input.utf8),
        environment: environment)
      #expect(run.code == 0, "\(command.arguments): \(run.errors)")
    }
    let run = try await tool.run(["--device", "phone", store, "sync"], environment: environment)
    #expect(run.code == 0, "\(store): \(run.errors)")
    let clock = ContinuousClock()
    let sent = clock.now
    let line = try await watch.output.line { $0.contains(addition.words) }
    let waited = clock.now - sent
    watch.send(SIGINT)
    #expect(await watch.exitCode() == 0, "\(store)")
    return (line, waited)
  }

  @Test("The watch command of every store shows changes by another process on the local server")
  func watchShowsChangeOfOtherProcess() async throws {
    for store in try await Self.stores() {
      let tool = try StoresTool()
      let (line, _) = try await Self.watch(store, ["--json", store, "watch"], tool, [:])
      let document = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(document?["change"] is String && document?["time"] is String, "\(store): \(line)")
    }
  }

  @Test("The watch command of every store shows another device's change by a push over HTTP")
  func watchShowsChangePushedOverHTTP() async throws {
    let cloud = try await ServerTool().serve()
    let environment = cloud.environment.merging(["CLOUDSYNC_API_TOKEN": cloud.apiToken]) { $1 }
    for store in try await Self.stores() {
      // Devices that nobody used for another store, so that nothing else is waited for.
      let tool = try StoresTool()
      let (_, waited) = try await Self.watch(
        store, [store, "watch"], tool,
        environment.merging(["CLOUDSYNC_ACCOUNT": "of-\(store)"]) { $1 })
      // Without a push it asks after 30 seconds.
      #expect(waited < .seconds(20), "\(store): no push woke it up")
    }
    #expect(await cloud.stop() == 0)
  }

  @Test("With --watch a list shows the first sync's contents, then the changes")
  func watchOptionListsThenShowsChanges() async throws {
    let tool = try StoresTool()
    try await tool.good("--device", "phone", "tabs", "add", "before.md", "--text", "x")
    try await tool.good("--device", "phone", "tabs", "sync")
    let watch = try RunningTool(tool.process(["--device", "desk", "tabs", "list", "--watch"]))
    _ = try await watch.output.line { $0.contains("before.md") && !$0.contains("opened") }
    _ = try await watch.errors.line { $0.contains("watching 1 tab of desk") }
    try await tool.good("--device", "phone", "tabs", "add", "after.md", "--text", "x")
    try await tool.good("--device", "phone", "tabs", "sync")
    _ = try await watch.output.line { $0.contains("opened") && $0.contains("after.md") }
    watch.send(SIGTERM)
    #expect(await watch.exitCode() == 0)
  }
}
