import Foundation
import Testing

@Suite("cloudsync on a terminal", .timeLimit(.minutes(20)))
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

  @Test("An export and an import over HTTP say what they wait for, and leave no line behind")
  func archivesShowProgress() async throws {
    let tool = try ServerTool()
    let cloud = try await tool.serve()
    #expect(try await cloud.save("milk") == 200)
    func run(_ arguments: String...) async throws -> String {
      let environment = cloud.environment.merging(["TERM": "xterm", "COLUMNS": ""]) { $1 }
      return try await PseudoTerminal(columns: 80).run(tool.process(arguments, environment))
    }
    let clearing = "\r\u{1B}[K"
    let archive = tool.path("archive.jsonl")
    let exported = try await run("export", "--output", archive)
    #expect(
      exported.hasPrefix("\(clearing)waiting for the server's archive\(clearing)"), "\(exported)")
    let reset = try await run("reset", "--yes")
    #expect(reset.hasSuffix("the server holds 0 accounts and 0 databases\n"), "\(reset)")
    let imported = try await run("import", archive)
    #expect(imported.hasPrefix("\(clearing)waiting for the server\(clearing)"), "\(imported)")
    #expect(imported.hasSuffix("the server holds 1 account and 1 database\n"), "\(imported)")
    #expect(await cloud.stop() == 0)
  }
}
