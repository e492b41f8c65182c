import CommandLineKit
import Foundation
import LoopbackServer
import WebServices

/// `export`, `import` and `reset`: all data of a server.
struct Archives: Sendable {
  /// The action.
  enum Verb: Hashable, Sendable {
    /// Writes an archive to a file, or to standard output.
    case export(to: String?, withSecret: Bool)
    /// Imports an archive from a file; `-` is standard input.
    case importFrom(String, newIdentity: Bool)
    case reset
  }

  let verb: Verb
  let address: Address

  /// Runs the command.
  func run(_ output: Output) async throws -> CInt {
    switch verb {
    case .export(let path, let withSecret):
      try await export(to: path, withSecret: withSecret, output)
    case .importFrom(let path, let newIdentity):
      try await importArchive(from: path, newIdentity: newIdentity, output)
    case .reset:
      try await tell(.post("reset", .object(JSON.Members())), "removed everything", output)
    }
    return 0
  }

  private func export(
    to path: String?, withSecret: Bool, _ output: Output
  ) async throws {
    let control = try address.open()
    defer { control.close() }
    guard let path else {
      if isatty(STDOUT_FILENO) == 1 { output.note("cloudsync: --output FILE writes a file") }
      return try await write(control, withSecret, output) { Output.write($0) }
    }
    if case .file(let data) = address { try NewFile.check(path, besides: data) }
    let file = try NewFile(path)
    do {
      try await write(control, withSecret, output) { try file.write($0) }
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
    output.note("cloudsync: wrote \(size(file.byteCount)) to \(printable(path))")
  }

  /// Writes the archive in pieces.
  private func write(
    _ control: any ControlInterface, _ withSecret: Bool, _ output: Output,
    to sink: ([UInt8]) throws -> Void
  ) async throws {
    guard let file = control as? FileControl else {
      let words = Transfer.Words(
        waiting: "waiting for the server's archive", received: "exported")
      let request = ControlRequest.get("export", [("secret", withSecret ? "true" : nil)])
      return try sink(try await control.send(request, showing: words, output))
    }
    var progress = ByteProgress("exported", output)
    defer { progress.end() }
    let total = try file.server.archiveLineCount()
    var lines = 0
    var buffer: [UInt8] = []
    try file.server.exportArchive(includesSecret: withSecret) { line in
      lines += 1
      buffer += Array(line.utf8)
      guard buffer.count >= 65_536 else { return }
      progress.add(buffer.count, fraction: total.map { Double(lines) / Double(max(1, $0)) })
      try sink(buffer)
      buffer.removeAll(keepingCapacity: true)
    }
    try sink(buffer)
  }

  private func importArchive(
    from path: String, newIdentity: Bool, _ output: Output
  ) async throws {
    let lines = try ArchiveLines(path)
    if case .file(let data) = address {
      return try await fill(data, from: lines, keepsIdentity: !newIdentity, output)
    }
    var request = ControlRequest(
      endpoint: "import", parameters: [("newIdentity", newIdentity ? "true" : nil)],
      body: try lines.rest())
    request.bodyType = "text/plain"
    request.refusedCode = ExitCode.data
    try await tell(request, "imported", output)
  }

  /// Imports into a file, line by line; a file created by the import is removed if it fails.
  private func fill(
    _ path: String, from lines: ArchiveLines, keepsIdentity: Bool, _ output: Output
  ) async throws {
    let isNew = !FileManager.default.fileExists(atPath: path)
    let server = try ServerData.open(path, create: true)
    var progress = ByteProgress("imported", of: lines.byteCount, output)
    do {
      defer { progress.end() }
      try lines.fill(server, keepsIdentity: keepsIdentity) { progress.add($0) }
    } catch {
      server.close()
      if isNew { for end in ["", "-wal", "-shm"] { unlink(path + end) } }
      throw error
    }
    server.close()
    try await tell(.get("status"), "imported", output)
  }

  private func tell(
    _ request: ControlRequest, _ done: String, _ output: Output
  ) async throws {
    let control = try address.open()
    defer { control.close() }
    let words = Transfer.Words(waiting: "waiting for the server")
    let answer = try control.json(await control.send(request, showing: words, output))
    let (accounts, databases) = (answer["accounts"], answer["databases"])
    if output.isJSON {
      let holdings = JSON.members(["accounts": accounts, "databases": databases])
      Output.write(holdings.indented + "\n")
      return
    }
    let held = [
      count(Int(accounts?.integer ?? 0), "account"),
      count(Int(databases?.integer ?? 0), "database"),
    ]
    Output.write("\(done); the server holds \(held[0]) and \(held[1])\n")
  }
}
