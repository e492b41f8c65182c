import CommandLineKit
import Foundation

/// The largest text read from a file or from standard input, in bytes.
private let largestInput = 64_000_000

extension TextSource {
  /// Reads the text.
  ///
  /// - Throws: `ToolError` if it can't be read or is not UTF-8.
  func read() throws(ToolError) -> String {
    switch self {
    case .text(let text): return text
    case .file(let path): return try readText(path)
    case .standardInput:
      let data: Data
      do {
        data = try FileHandle.standardInput.readToEnd() ?? Data()
      } catch {
        throw ToolError(
          "cannot read standard input: \(error.localizedDescription)", code: ExitCode.noInput)
      }
      return try decoded(data, "standard input")
    }
  }
}

/// The text in the file at `path`.
func readText(_ path: String) throws(ToolError) -> String {
  try decoded(try readData(path), quoted(path))
}

/// The bytes in the file at `path`.
func readData(_ path: String) throws(ToolError) -> Data {
  var isFolder: ObjCBool = false
  guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
    throw ToolError("there is no file \(quoted(path))", code: ExitCode.noInput)
  }
  guard !isFolder.boolValue else {
    throw ToolError("\(quoted(path)) is a folder, not a file", code: ExitCode.noInput)
  }
  do {
    return try Data(contentsOf: URL(fileURLWithPath: path))
  } catch {
    throw ToolError(
      "cannot read the file \(quoted(path)): \(error.localizedDescription)",
      code: ExitCode.noInput)
  }
}

private func decoded(_ data: Data, _ what: String) throws(ToolError) -> String {
  guard data.count <= largestInput else {
    throw ToolError("\(what) is too large", code: ExitCode.data)
  }
  guard let text = String(validating: data, as: UTF8.self) else {
    throw ToolError("\(what) is not UTF-8 text", code: ExitCode.data)
  }
  return text
}

/// The one ID that starts with `prefix`.
///
/// - Throws: `ToolError` if there is none, or more than one.
func find(_ prefix: String, in ids: [UUID], _ what: String) throws(ToolError) -> UUID {
  let wanted = prefix.uppercased()
  let found = wanted.isEmpty ? [] : ids.filter { $0.uuidString.hasPrefix(wanted) }
  guard let id = found.first else {
    throw ToolError(
      "there is no \(what) with the ID \(quoted(prefix))", code: ExitCode.unknownName)
  }
  guard found.count == 1 else {
    throw ToolError(
      "\(quoted(prefix)) is the beginning of \(found.count) \(what) IDs; give more of it")
  }
  return id
}
