import Foundation
import Testing

/// The built `stores` tool, with a home folder of its own that is gone when the test is over.
final class StoresTool: Sendable {
  /// What a run printed and how it ended.
  struct Run {
    var output: String
    var errors: String
    /// The exit code, or the signal with a minus sign.
    var code: CInt

    /// The output as JSON.
    func json() throws -> [String: Any] {
      let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
      return try #require(object as? [String: Any], "\(output)")
    }
  }

  let home: URL

  init() throws {
    home = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: home) }

  /// The tool lies beside the tests' own program.
  static func program() throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
    for _ in 0..<6 {
      folder.deleteLastPathComponent()
      let tool = folder.appendingPathComponent("stores")
      if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
    }
    throw CocoaError(.fileNoSuchFile)
  }

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
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    // Files, not pipes: nothing can block, however much is printed.
    let names = ["in", "out", "err"].map { scratch.appendingPathComponent($0) }
    try input.write(to: names[0])
    for name in names.dropFirst() { try Data().write(to: name) }
    let process = try process(arguments, environment)
    process.standardInput = try FileHandle(forReadingFrom: names[0])
    process.standardOutput = try FileHandle(forWritingTo: names[1])
    process.standardError = try FileHandle(forWritingTo: names[2])
    if let currentDirectory { process.currentDirectoryURL = currentDirectory }
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    let status = process.terminationStatus
    return Run(
      output: String(decoding: try Data(contentsOf: names[1]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: names[2]), as: UTF8.self),
      code: process.terminationReason == .uncaughtSignal ? -status : status)
  }

  /// Runs the tool and expects success and silence on standard error.
  @discardableResult
  func good(_ arguments: String..., input: String = "") async throws -> String {
    let run = try await run(arguments, input: Data(input.utf8))
    #expect(run.code == 0, "\(arguments): \(run.errors)")
    #expect(run.errors.isEmpty, "\(arguments)")
    return run.output
  }

  /// A process that runs the tool in this home, not started yet.
  func process(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Process {
    let process = Process()
    process.executableURL = try Self.program()
    process.arguments = arguments
    var all = ProcessInfo.processInfo.environment
    all["CLOUDSYNC_HOME"] = home.path
    all.merge(environment) { _, new in new }
    process.environment = all
    return process
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
