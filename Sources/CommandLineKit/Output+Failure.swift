/// The errors of tools, as lines for users or as JSON for programs.
extension Output {
  private struct Failure: Encodable {
    var error: String
    var code: Int
    var help: String?
  }

  /// The version of the tools.
  package static let version = "0.1.0"

  /// Whether a command line asks for JSON, also if it is invalid.
  package static func wantsJSON(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains("--json")
  }

  /// Prints the error that ends a program: a line that begins with the program's name, or a JSON
  /// object in one line.
  ///
  /// - Parameter code: the exit code of the program.
  /// - Returns: `code`.
  package static func fail(
    _ program: String, _ words: String, code: CInt, isJSON: Bool, help: String? = nil,
    name: String? = nil
  ) -> CInt {
    let failure = Failure(error: words, code: Int(code), help: help)
    if isJSON, let line = try? json(failure, isPretty: false) {
      writeError(line + "\n")
    } else {
      writeError("\(name ?? "\(program):") \(words)\n" + (help.map { "Try: \($0)\n" } ?? ""))
    }
    return code
  }
}
