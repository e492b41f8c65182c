import CommandLineKit
import Foundation

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
    guard isThere, !isFolder.boolValue, let file = FileHandle(forReadingAtPath: path) else {
      throw ToolError("cannot read \(name); check that it is a file and may be read")
    }
    self.file = file
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
      throw ToolError("cannot read \(name): \(error.localizedDescription)")
    }
  }

  private func text(_ bytes: ArraySlice<UInt8>) throws(ToolError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError("\(name) is not an archive: it is not UTF-8 text")
    }
    return text
  }
}
