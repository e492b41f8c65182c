import Foundation
import Testing
import VerificationSupport

/// A tool of this package, as it was built.
enum BuiltTool {
  /// What a run printed and how it ended.
  struct Run {
    var output: String
    var errors: String
    /// The exit code, or the signal with a minus sign.
    var code: CInt

    /// The output of a run that succeeded, as JSON.
    func json() throws -> [String: Any] {
      try #require(code == 0, "exit code \(code): \(errors)")
      let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
      return try #require(object as? [String: Any], "\(output)")
    }
  }

  /// The tool called `name`, which lies beside the tests' own program.
  static func program(_ name: String) throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
    #if canImport(Darwin)
      // The program that runs tests is Xcode's; the test bundle is beside the products.
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      folder = bundle?.bundleURL ?? folder
    #endif
    for _ in 0..<6 {
      folder.deleteLastPathComponent()
      let tool = folder.appendingPathComponent(name)
      if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
    }
    throw CocoaError(.fileNoSuchFile)
  }

  /// Runs a process to its end.
  ///
  /// - Parameter output: Where its output goes instead of into the result.
  static func run(
    _ process: ToolProcess, input: Data = Data(), output: FileHandle? = nil
  ) async throws -> Run {
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    // Files, not pipes: nothing can block, however much is printed.
    let names = ["in", "out", "err"].map { scratch.appendingPathComponent($0) }
    try input.write(to: names[0])
    for name in names.dropFirst() { try Data().write(to: name) }
    var process = process
    process.input = try FileHandle(forReadingFrom: names[0])
    process.output = try output ?? FileHandle(forWritingTo: names[1])
    process.errors = try FileHandle(forWritingTo: names[2])
    let code = try await process.start().exitCode()
    return Run(
      output: String(decoding: try Data(contentsOf: names[1]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: names[2]), as: UTF8.self), code: code)
  }
}
