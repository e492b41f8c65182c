import CommandLineKit

/// What may stand for a word of a store's verbs.
enum Completing: Sendable {
  /// The same words always.
  case fixed([String])
  /// What the device has.
  case opened(@Sendable (Session) throws -> [Completion.Candidate])

  /// What the device has in an app: a word each, and what it is.
  ///
  /// The first word of what it is may be the word itself, which is not shown twice.
  init<App: StoreApp>(
    _ app: App.Type, _ items: @escaping @Sendable (App) throws -> [(word: String, meaning: String)]
  ) {
    self = .opened { session in
      try items(session.app(App.self)).map { item in
        let rest = item.meaning.hasPrefix(item.word) ? item.meaning.dropFirst(item.word.count) : nil
        let meaning = (rest ?? item.meaning[...]).drop { $0 == " " }
        return Completion.Candidate(word: item.word, meaning: meaning.cut(to: 60))
      }
    }
  }

  /// What the device of `session` has.
  func items(_ session: Session) throws -> [Completion.Candidate] {
    switch self {
    case .fixed(let words): words.map { Completion.Candidate(word: $0) }
    case .opened(let items): try items(session)
    }
  }
}
