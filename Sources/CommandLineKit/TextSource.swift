import Foundation

/// The source of a text that a command line names.
package enum TextSource: Hashable, Sendable {
  /// The text itself.
  case text(String)
  /// The file at a path.
  case file(String)
  /// Standard input.
  case standardInput

  /// The largest text read from a file or from standard input, in bytes.
  private static let largest = 64_000_000

  /// The source named by `--text`, `--file` or `-`, or `nil` when none is.
  package init?(_ arguments: inout Arguments) throws(UsageError) {
    var sources: [TextSource] = []
    if let text = arguments.value("text") { sources.append(.text(text)) }
    if let file = arguments.value("file") { sources.append(.file(file)) }
    if arguments.nextWord == "-" {
      _ = arguments.word()
      sources.append(.standardInput)
    }
    if sources.count > 1 { throw UsageError("give the text once: --text, --file or -") }
    guard let source = sources.first else { return nil }
    self = source
  }

  /// Reads the text.
  ///
  /// - Throws: `ToolError` if it can't be read or is not UTF-8.
  package func read() throws(ToolError) -> String {
    switch self {
    case .text(let text): return text
    case .file(let path): return try Self.decoded(try readFile(path), quoted(path))
    case .standardInput:
      let data: Data
      do {
        data = try FileHandle.standardInput.readToEnd() ?? Data()
      } catch {
        throw ToolError(
          "cannot read standard input: \(error.localizedDescription)", code: ExitCode.noInput)
      }
      return try Self.decoded(data, "standard input")
    }
  }

  private static func decoded(_ data: Data, _ what: String) throws(ToolError) -> String {
    guard data.count <= largest else {
      throw ToolError("\(what) is too large", code: ExitCode.data)
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ToolError("\(what) is not UTF-8 text", code: ExitCode.data)
    }
    return text
  }
}
