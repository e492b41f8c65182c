import Foundation
import Testing
import VerificationSupport

/// The built `stores` tool, with a home folder of its own that is gone when the test is over.
final class StoresTool: Sendable {
  typealias Run = BuiltTool.Run

  let home: URL

  init() throws {
    home = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: home) }

  /// A path in a folder of its own beside the tool's home.
  func file(_ name: String, _ content: Data) throws -> String {
    let folder = home.appendingPathComponent("input")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent(name)
    try content.write(to: url)
    return url.path
  }

  /// Runs the tool to its end.
  @discardableResult
  func run(
    _ arguments: [String], input: Data = Data(), environment: [String: String] = [:],
    currentDirectory: URL? = nil
  ) async throws -> Run {
    var process = try process(arguments, environment)
    process.folder = currentDirectory
    return try await BuiltTool.run(process, input: input)
  }

  /// Runs the tool and expects success and silence on standard error.
  @discardableResult
  func good(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) async throws -> String {
    let run = try await run(arguments, input: Data(input.utf8), environment: environment)
    #expect(run.code == 0, "\(arguments): \(run.errors)")
    #expect(run.errors.isEmpty, "\(arguments)")
    return run.output
  }

  /// A process that runs the tool in this home, not started yet.
  func process(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ToolProcess {
    var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CLOUDSYNC_") }
    all["CLOUDSYNC_HOME"] = home.path
    all.merge(environment) { _, new in new }
    return ToolProcess(
      program: try BuiltTool.program("stores"), arguments: arguments, environment: all)
  }

  /// Every file of server and devices with its content, to see whether something changed.
  func snapshot() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: home.path) {
      // SQLite's shared index is rebuilt by whoever looks, and holds no data.
      if name.hasPrefix("input") || name.hasSuffix("-shm") { continue }
      files[name] = FileManager.default.contents(atPath: home.path + "/" + name)
    }
    return files
  }
}
