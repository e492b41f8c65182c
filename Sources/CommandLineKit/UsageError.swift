/// A command line that can't be carried out as it stands; the message says why.
package struct UsageError: Error, Hashable, CustomStringConvertible {
  /// What is wrong, in words.
  package var description: String

  /// The help that shows how it is done, such as `tabs`.
  package var topic: String?

  /// Says what is wrong, and where help is.
  package init(_ description: String, topic: String? = nil) {
    self.description = description
    self.topic = topic
  }
}
