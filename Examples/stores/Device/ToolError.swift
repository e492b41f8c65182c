/// A failure of the tool itself: what happened, to what, and what to do.
struct ToolError: Error, Hashable, CustomStringConvertible {
  /// One or two sentences for people.
  var description: String

  init(_ description: String) {
    self.description = description
  }
}
