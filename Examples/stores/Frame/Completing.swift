import CommandLineKit

/// The completions of a word of a verb.
enum Completing: Sendable {
  /// Fixed words.
  case fixed([String])
  /// Words from the data on the device.
  case opened(@Sendable (Session) throws -> [Completion.Candidate])

  /// Words from the data of an app, with their meanings.
  ///
  /// A meaning that begins with the word is shown without it.
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

  /// The completions on the device of `session`.
  func items(_ session: Session) throws -> [Completion.Candidate] {
    switch self {
    case .fixed(let words): words.map { Completion.Candidate(word: $0) }
    case .opened(let items): try items(session)
    }
  }
}
