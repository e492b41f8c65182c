/// A failure of a tool; the message says what failed and how to fix it.
package struct ToolError: Error, Hashable, CustomStringConvertible {
  /// The message, one or two sentences.
  package var description: String

  /// Creates an error with a message.
  package init(_ description: String) {
    self.description = description
  }
}
