import Foundation
import Testing

@Suite("cloudsync on a terminal", .timeLimit(.minutes(10)))
struct InspectTerminalTests {
  @Test(
    "A table on a narrow terminal shortens values, and never the names that tell rows apart",
    arguments: [40, 60, 100])
  func narrowTableKeepsNames(columns: UInt16) async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve("--fault-control")
    let names = ["a", "b"].map { "a-name-of-a-record-that-is-longer-than-the-terminal-\($0)" }
    for name in names { #expect(try await cloud.save(name) == 200) }
    let environment = cloud.environment.merging(["TERM": "dumb", "COLUMNS": ""]) { $1 }
    let printed = try await PseudoTerminal(columns: columns).run(
      tool.process(["inspect", "records"], environment))
    for name in names { #expect(printed.contains(name), "\(printed)") }
    let accounts = try await PseudoTerminal(columns: columns).run(
      tool.process(["inspect", "accounts"], environment))
    #expect(accounts.contains("default"), "\(accounts)")
    #expect(await cloud.stop() == 0)
  }
}
