package import Foundation

extension ToolError {
  /// The system's last error, of a file that can't be written.
  package static func cannotWrite(_ path: String) -> ToolError {
    ToolError(
      "cannot write \(quoted(path)): \(String(cString: strerror(errno)))",
      code: ExitCode.cannotCreate)
  }
}

/// The bytes of a file that a command line names.
///
/// - Throws: an error that says whether it is missing, a folder, or can't be read.
package func readFile(_ path: String) throws(ToolError) -> Data {
  var isFolder = ObjCBool(false)
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

/// The text of a file in UTF-8 that a command line names.
///
/// - Throws: an error that says what is wrong with the file.
package func readText(_ path: String) throws(ToolError) -> String {
  guard let text = String(validating: try readFile(path), as: UTF8.self) else {
    throw ToolError("the file \(quoted(path)) is not a text in UTF-8", code: ExitCode.data)
  }
  return text
}
