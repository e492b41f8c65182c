import CommandLineKit
import Foundation
import LoopbackServer
import WebServices

/// `export`, `import` and `reset`: everything a server holds, at once.
struct Archives: Sendable {
  /// What is done.
  enum Verb: Hashable, Sendable {
    /// Writes an archive to a file, or to standard output.
    case export(to: String?)
    /// Reads one from a file; `-` is standard input.
    case importFrom(String)
    case reset
  }

  let verb: Verb
  let address: Address

  /// Does it.
  func run(_ output: Output) async throws -> CInt {
    switch verb {
    case .export(let path): try await export(to: path, output)
    case .importFrom(let path): try await importArchive(from: path, output)
    case .reset:
      try await tell(.post("reset", .object(JSON.Members())), "removed everything", output)
    }
    return 0
  }

  private func export(to path: String?, _ output: Output) async throws {
    let control = try address.open()
    defer { control.close() }
    guard let path else {
      if isatty(STDOUT_FILENO) == 1 { output.note("cloudsync: --output FILE writes a file") }
      return try await write(control, Progress("exported", output)) { Output.write($0) }
    }
    let file = try NewFile(path)
    do {
      try await write(control, Progress("exported", output)) { try file.write($0) }
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
    output.note("cloudsync: wrote \(size(file.byteCount)) to \(printable(path))")
  }

  /// Hands the archive on piece by piece.
  private func write(
    _ control: any ControlInterface, _ progress: Progress, to sink: ([UInt8]) throws -> Void
  ) async throws {
    defer { progress.end() }
    guard let file = control as? FileControl else {
      return try sink(try await control.ask(.get("export")))
    }
    var buffer: [UInt8] = []
    try file.server.exportArchive { line in
      buffer += Array(line.utf8)
      guard buffer.count >= 65_536 else { return }
      progress.add(buffer.count)
      try sink(buffer)
      buffer.removeAll(keepingCapacity: true)
    }
    try sink(buffer)
  }

  private func importArchive(from path: String, _ output: Output) async throws {
    let archive = try Archives.read(path)
    var question = ControlQuestion(endpoint: "import", body: archive)
    question.bodyType = "text/plain"
    try await tell(question, "imported", output, create: true)
  }

  private static func read(_ path: String) throws -> [UInt8] {
    do {
      let data =
        path == "-"
        ? try FileHandle.standardInput.readToEnd() ?? Data()
        : try Data(contentsOf: URL(fileURLWithPath: path))
      return [UInt8](data)
    } catch {
      throw ToolError("cannot read \(quoted(path)); check that it is there and may be read")
    }
  }

  private func tell(
    _ question: ControlQuestion, _ words: String, _ output: Output, create: Bool = false
  ) async throws {
    let control = try address.open(create: create)
    defer { control.close() }
    let answer = try await control.json(question)
    if output.isJSON {
      Output.write(answer.indented + "\n")
      return
    }
    let accounts = count(Int(answer["accounts"]?.integer ?? 0), "account")
    let databases = count(Int(answer["databases"]?.integer ?? 0), "database")
    Output.write("\(words); the server holds \(accounts) and \(databases)\n")
  }
}
