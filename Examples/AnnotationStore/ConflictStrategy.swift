import Foundation

/// The rule for whose value is kept if two devices changed the same field of an item differently.
///
/// A value that can be composed, compared, stored and written as text:
/// `.perField(["title": .manual]).orElse(.lastWriteWins)` leaves titles to the user, and the later
/// edit wins everything else.
public indirect enum ConflictStrategy: Hashable, Sendable, Codable {
  /// The later edit wins, by the dates of both versions.
  ///
  /// A version without a date is the older one. At equal dates the values decide, the same way on
  /// every device.
  case lastWriteWins
  /// The server's value always wins.
  case remoteWins
  /// This device's value always wins.
  case localWins
  /// The user decides; until then both values are kept.
  case manual
  /// The later edit wins if it is later by more than these seconds; otherwise no decision.
  ///
  /// The clocks of devices differ by seconds.
  case clearlyLaterWins(seconds: Double)
  /// A strategy for each of these fields; no decision about the others.
  case perField([String: ConflictStrategy])
  /// The first strategy, and the second if the first makes no decision.
  case first(ConflictStrategy, otherwise: ConflictStrategy)

  /// This strategy, and `other` if this one makes no decision.
  public func orElse(_ other: ConflictStrategy) -> ConflictStrategy {
    .first(self, otherwise: other)
  }

  /// A contradiction about a field, or a group of fields that change together.
  struct Question {
    var field: String
    /// The date of this device's version; `nil` if it is not known.
    var mineTime: Date?
    /// The date of the server's version; `nil` if it is not known, as for a deletion.
    var theirsTime: Date?
    /// The values as text, to break ties: the same on every device.
    var mineText = ""
    var theirsText = ""
  }

  enum Decision {
    /// This device's value stays and is sent.
    case mine
    /// The server's value replaces this device's.
    case theirs
    /// Both are kept until the user decides.
    case askPerson
  }

  /// The strategy's answer; `nil` if it makes no decision.
  func decide(_ question: Question) -> Decision? {
    switch self {
    case .lastWriteWins: Self.later(question)
    case .remoteWins: .theirs
    case .localWins: .mine
    case .manual: .askPerson
    case .clearlyLaterWins(let seconds): Self.later(question, byMoreThan: seconds)
    case .perField(let strategies): strategies[question.field]?.decide(question)
    case .first(let first, let otherwise): first.decide(question) ?? otherwise.decide(question)
    }
  }

  /// The strategy's answer, and the later edit if it makes no decision.
  func settle(_ question: Question) -> Decision { decide(question) ?? Self.later(question) }

  /// Whether this device's value wins against every other value of every field.
  var alwaysKeepsMine: Bool {
    switch self {
    case .localWins: true
    case .lastWriteWins, .remoteWins, .manual, .clearlyLaterWins, .perField: false
    case .first(let first, _): first.alwaysKeepsMine
    }
  }

  private static func later(_ question: Question) -> Decision {
    let mine = question.mineTime ?? .distantPast
    let theirs = question.theirsTime ?? .distantPast
    if mine != theirs { return mine > theirs ? .mine : .theirs }
    return question.mineText.isGreater(than: question.theirsText) ? .mine : .theirs
  }

  private static func later(_ question: Question, byMoreThan seconds: Double) -> Decision? {
    guard let mine = question.mineTime, let theirs = question.theirsTime,
      abs(mine.timeIntervalSince(theirs)) > seconds
    else { return nil }
    return mine > theirs ? .mine : .theirs
  }
}

extension String {
  /// Compares the bytes; `<` takes texts for equal that only look alike.
  func isGreater(than other: String) -> Bool {
    other.utf8.lexicographicallyPrecedes(utf8)
  }
}
