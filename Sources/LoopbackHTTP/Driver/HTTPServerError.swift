/// Why a server could not begin to listen.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, to what, and what to do about it.
  package var message: String

  /// An error that says `message`.
  package init(_ message: String) { self.message = message }

  /// The message.
  package var description: String { message }
}
