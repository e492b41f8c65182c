/// One thing in which two states differ, as a line that begins with `+`, `-` or `~`.
package struct StateDifference: Sendable, Equatable, CustomStringConvertible {
  /// What became of it.
  package enum Kind: Sendable, Equatable {
    /// Only the new state has it; with its value, where it has one.
    case added(String?)
    /// Only the old state has it; with its value, where it has one.
    case removed(String?)
    /// Both have it, and its value is another one.
    case changed(old: String, new: String)
  }

  /// What became of it, with the values in words.
  package let kind: Kind
  /// What differs: "token of zone Notes", or "pending save Notes/n1".
  package let what: String

  init(_ kind: Kind, _ what: String) {
    self.kind = kind
    self.what = what
  }

  /// One line without a line feed: `~ token of zone Notes: 2 bytes 3f00 -> 2 bytes 4000`.
  package var description: String {
    switch kind {
    case .added(let value): "+ \(what)" + (value.map { ": \($0)" } ?? "")
    case .removed(let value): "- \(what)" + (value.map { ": \($0)" } ?? "")
    case .changed(let old, let new): "~ \(what): \(old) -> \(new)"
    }
  }
}
