/// A failure of the tool itself: what happened, to what, and what to do.
package struct ToolError: Error, Hashable, CustomStringConvertible {
  /// One or two sentences for people.
  package var description: String

  /// Says what happened.
  package init(_ description: String) {
    self.description = description
  }
}
