/// The error of an invalid command line.
package struct UsageError: Error, Hashable, CustomStringConvertible {
  /// The message.
  package var description: String

  /// The help topic, such as `tabs`.
  package var topic: String?

  /// The exit code; another one than ``ExitCode/usage`` if a file that an option names is wrong.
  package var code: CInt

  /// Creates an error with a message, a help topic and an exit code.
  package init(_ description: String, topic: String? = nil, code: CInt = ExitCode.usage) {
    self.description = description
    self.topic = topic
    self.code = code
  }
}
