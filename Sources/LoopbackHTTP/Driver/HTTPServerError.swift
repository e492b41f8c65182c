/// The error of a server that could not start listening.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The failed operation and its remedy.
  package var message: String

  /// Creates an error with a message.
  package init(_ message: String) { self.message = message }

  /// The message.
  package var description: String { message }
}
