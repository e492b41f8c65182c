/// The error of an invalid command line.
package struct UsageError: Error, Hashable, CustomStringConvertible {
  /// The exit code of every tool for an invalid command line: EX_USAGE of sysexits.
  package static let exitCode: CInt = 64

  /// The message.
  package var description: String

  /// The help topic, such as `tabs`.
  package var topic: String?

  /// Creates an error with a message and a help topic.
  package init(_ description: String, topic: String? = nil) {
    self.description = description
    self.topic = topic
  }
}
