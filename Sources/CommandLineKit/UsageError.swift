/// The error of an invalid command line.
package struct UsageError: Error, Hashable, CustomStringConvertible {
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
