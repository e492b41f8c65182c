/// The error of a server that could not start listening.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What failed and how to fix it.
  package var message: String

  /// Creates an error with a message.
  package init(_ message: String) { self.message = message }

  /// The message.
  package var description: String { message }
}
