/// The error of a server that could not start listening.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The failed operation and its remedy.
  package var message: String

  /// Whether the host is not an address of this machine.
  package var isOfHost: Bool

  /// Creates an error with a message.
  package init(_ message: String, isOfHost: Bool = false) {
    (self.message, self.isOfHost) = (message, isOfHost)
  }

  /// The message.
  package var description: String { message }
}
