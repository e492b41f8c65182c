/// Why a file could not be shown as a state, and what of it can still be read.
package struct StateInspectionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of fault.
  package enum Code: Sendable, Equatable {
    /// The system did not hand out the file's bytes.
    case unreadable
    /// The file does not contain a state.
    case foreign
    /// A newer version wrote it.
    case future
    /// It is or was a state, and is damaged.
    case damaged
    /// It holds several states, or none where one was asked for; `member` says which to take.
    case ambiguous
  }

  /// What kind of fault it is.
  package let code: Code
  /// What happened, to which file, and what to do; no names of records.
  package let message: String
  /// What can still be read of a damaged file; `nil` when nothing can.
  package let readable: StateInspection?

  init(_ code: Code, _ message: String, readable: StateInspection? = nil) {
    self.code = code
    self.message = message
    self.readable = readable
  }

  /// The message.
  package var description: String { message }
}
