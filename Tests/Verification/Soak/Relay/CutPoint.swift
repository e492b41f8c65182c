/// A place in the exchange between a server and PostgreSQL at which a connection is cut.
enum CutPoint: String, CaseIterable {
  /// While a new connection is set up.
  case startup
  /// In the middle of a statement that is sent.
  case statement
  /// In the middle of an answer.
  case answer
  /// When everything but `COMMIT` was passed on.
  case beforeCommit = "before COMMIT"
  /// When `COMMIT` was passed on; its answer gets lost.
  case afterCommit = "after COMMIT"
  /// In the middle of the answer to `COMMIT`.
  case withinCommit = "within COMMIT's answer"
  /// After the answer to `COMMIT`, before the message that the server is ready.
  case afterAnswer = "after COMMIT's answer"
  /// Before `COMMIT`, without an end of the connection: nothing is passed on any more.
  case silence
}
