extension Store {
  /// All stores, in the order people see them.
  ///
  /// A new one goes here, and nowhere else.
  static let all: [Store] = [
    .tabs,
    .clipboard,
    .results,
    .achievements,
    .leaderboard,
    .ideas,
    .annotations,
  ]
}
