import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackServer

/// The lines of an archive, read on demand.
final class ArchiveLines {
  private let name: String
  private let file: FileHandle
  private var buffer: [UInt8] = []
  /// The start of the next line in `buffer`.
  private var start = 0
  private var isAtEnd = false

  /// Opens a file; `-` is standard input.
  init(_ path: String) throws(ToolError) {
    name = path == "-" ? "standard input" : quoted(path)
    var isFolder = ObjCBool(false)
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    guard path != "-" else {
      file = .standardInput
      return
    }
    guard isThere else {
      throw ToolError("there is no file \(name)", code: ExitCode.noInput)
    }
    guard !isFolder.boolValue, let file = FileHandle(forReadingAtPath: path) else {
      throw ToolError(
        "cannot read \(name); check that it is a file and may be read", code: ExitCode.noInput)
    }
    self.file = file
  }

  /// The number of bytes; `nil` if it is not known, as for standard input.
  var byteCount: Int? {
    let end = try? file.seekToEnd()
    guard let end, (try? file.seek(toOffset: 0)) != nil else { return nil }
    return Int(clamping: end)
  }

  /// The next line with its line feed; `nil` after the last.
  func next() throws(ToolError) -> String? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return try text(buffer[start...end])
      }
      searched = buffer.count - start
      buffer.removeFirst(start)
      start = 0
      guard try readMore() else {
        defer { buffer = [] }
        return buffer.isEmpty ? nil : try text(buffer[...])
      }
    }
  }

  /// Imports the lines into an empty server.
  ///
  /// - Parameters:
  ///   - keepsIdentity: Whether change tokens of the archive's server stay valid.
  ///   - note: called with the number of bytes of each line.
  func fill(
    _ server: LoopbackServer, keepsIdentity: Bool = true, note: (Int) -> Void = { _ in }
  ) throws {
    do {
      try server.importArchive(keepsIdentity: keepsIdentity) {
        let line = try next()
        note(line?.utf8.count ?? 0)
        return line
      }
    } catch let error as CloudError
      where [.invalidArguments, .incompatibleVersion].contains(error.code)
    {
      throw ToolError(error.message, code: ExitCode.data)
    }
  }

  /// The rest of the file.
  func rest() throws(ToolError) -> [UInt8] {
    while try readMore() {}
    defer { buffer = [] }
    return Array(buffer[start...])
  }

  private func readMore() throws(ToolError) -> Bool {
    guard !isAtEnd else { return false }
    do {
      let data = try file.read(upToCount: 1 << 18) ?? Data()
      isAtEnd = data.isEmpty
      buffer += data
      return !isAtEnd
    } catch {
      throw ToolError(
        "cannot read \(name): \(error.localizedDescription)", code: ExitCode.noInput)
    }
  }

  private func text(_ bytes: ArraySlice<UInt8>) throws(ToolError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError("\(name) is not an archive: it is not UTF-8 text", code: ExitCode.data)
    }
    return text
  }
}
