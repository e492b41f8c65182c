/// A failure of a tool; the message says what failed and how to fix it.
package struct ToolError: Error, Hashable, CustomStringConvertible {
  /// The message, one or two sentences.
  package var description: String

  /// The exit code of the program, one of ``ExitCode``.
  package var code: CInt

  /// Creates an error with a message.
  package init(_ description: String, code: CInt = ExitCode.failure) {
    self.description = description
    self.code = code
  }
}
