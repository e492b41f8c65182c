import Foundation
import Testing

/// The tool as people start it: the built binary, its output and its exit code.
struct Tool {
  struct Outcome {
    var status: Int32
    var output: String
    var errors: String
  }

  let home = FileManager.default.temporaryDirectory
    .appendingPathComponent("stores-\(UUID().uuidString)")

  /// The folder the test bundle was built into.
  static var products: URL {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent()
  }

  func run(_ arguments: [String], input: String = "") throws -> Outcome {
    let process = Process()
    process.executableURL = Tool.products.appendingPathComponent("stores")
    process.arguments = ["--home", home.path] + arguments
    let (into, out, err) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (into, out, err)
    try process.run()
    into.fileHandleForWriting.write(Data(input.utf8))
    try into.fileHandleForWriting.close()
    let output = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let errors = String(decoding: err.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, output: output, errors: errors)
  }
}

@Suite("The stores tool", .serialized)
struct StoresToolTests {
  @Test("Two devices in separate invocations sync tabs, clipboard and results with each other")
  func twoDevices() throws {
    let tool = Tool()
    defer { try? FileManager.default.removeItem(at: tool.home) }
    for arguments in [
      ["--device", "phone", "tabs", "add", "groceries", "--text", "bread and milk"],
      ["--device", "phone", "tabs", "sync"],
      ["--device", "laptop", "tabs", "sync"],
    ] {
      let outcome = try tool.run(arguments)
      #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
    }
    let list = try tool.run(["--device", "laptop", "--json", "tabs", "list"])
    #expect(list.output.contains("groceries"))
    #expect(throws: Never.self) {
      try JSONSerialization.jsonObject(with: Data(list.output.utf8))
    }
  }

  @Test("Bad input: a plain error on stderr, a non-zero exit code, nothing on stdout")
  func badInput() throws {
    let tool = Tool()
    defer { try? FileManager.default.removeItem(at: tool.home) }
    for (arguments, input) in [
      (["nonsense", "list"], ""), (["tabs", "nonsense"], ""),
      (["tabs", "show", "00000000-0000-0000-0000-000000000000"], ""),
      (["tabs", "add", "x", "--file", "/does/not/exist"], ""),
      (["results", "add"], "this is no game's share text"),
      (["clipboard", "delete", "00000000-0000-0000-0000-000000000000"], ""),
    ] {
      let outcome = try tool.run(arguments, input: input)
      #expect(outcome.status != 0, "\(arguments) passed")
      #expect(!outcome.errors.isEmpty && outcome.output.isEmpty, "\(arguments): \(outcome)")
    }
  }

  @Test("A server file that is damaged is named, and stays as it is")
  func damagedServer() throws {
    let tool = Tool()
    defer { try? FileManager.default.removeItem(at: tool.home) }
    #expect(try tool.run(["--device", "phone", "tabs", "sync"]).status == 0)
    let file = tool.home.appendingPathComponent("server.sqlite")
    let damaged = Data("this is no database, and never was one".utf8)
    try damaged.write(to: file)
    let outcome = try tool.run(["--device", "phone", "tabs", "sync"])
    #expect(outcome.status != 0 && outcome.errors.contains("server.sqlite"), "\(outcome)")
    #expect(try Data(contentsOf: file) == damaged)
  }
}
