/// Whose value stays when two devices changed the same field of the same item differently.
///
/// A value that can be composed, compared, stored and written as text:
/// `.perField(["title": .manual]).orElse(.lastWriteWins)` asks the person about titles and lets the
/// later edit win everything else. It decides nothing by itself where it has no opinion.
public indirect enum ConflictStrategy: Hashable, Sendable, Codable {
  /// The later edit wins, by the dates both sides carry.
  ///
  /// A side without a date is the older one. Equal dates are decided by the values themselves, so
  /// that every device decides alike.
  case lastWriteWins
  /// The cloud's value wins, always.
  case remoteWins
  /// This device's value wins, always.
  case localWins
  /// The person decides; until then both values are kept.
  case manual
  /// The later edit wins if it is later by more than so many seconds; no opinion otherwise.
  ///
  /// Clocks of devices differ by seconds, so "later" means little below that.
  case clearlyLaterWins(seconds: Double)
  /// A strategy for each field named; no opinion about the others.
  case perField([String: ConflictStrategy])
  /// The first strategy, and the second where the first has no opinion.
  case first(ConflictStrategy, otherwise: ConflictStrategy)

  /// This strategy, and `other` where this one has no opinion.
  public func orElse(_ other: ConflictStrategy) -> ConflictStrategy {
    .first(self, otherwise: other)
  }

  /// What a strategy is asked.
  public struct Question: Hashable, Sendable {
    /// The field, or the name of the group of fields that change together.
    public var field: String
    /// When this device's version was written, in seconds of any one reference; `nil` if unknown.
    public var mineTime: Double?
    /// When the cloud's version was written; `nil` if unknown, as for a deletion.
    public var theirsTime: Double?
    /// This device's value as text, to break a tie; the same value gives the same text everywhere.
    public var mineText: String
    /// The cloud's value as text.
    public var theirsText: String

    /// Asks about one field.
    public init(
      field: String, mineTime: Double?, theirsTime: Double?, mineText: String = "",
      theirsText: String = ""
    ) {
      self.field = field
      self.mineTime = mineTime
      self.theirsTime = theirsTime
      self.mineText = mineText
      self.theirsText = theirsText
    }
  }

  /// A strategy's answer.
  public enum Decision: String, Hashable, Sendable, Codable {
    /// This device's value stays and is sent.
    case mine
    /// The cloud's value replaces this device's.
    case theirs
    /// Both are kept until the person chose.
    case askPerson
  }

  /// The strategy's answer; `nil` where it has no opinion.
  public func decide(_ question: Question) -> Decision? {
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

  /// The strategy's answer, and the later edit where it has no opinion at all.
  public func settle(_ question: Question) -> Decision {
    decide(question) ?? Self.later(question)
  }

  /// Whether this device's value wins whatever the field and the other value are.
  ///
  /// Such a strategy need not look at the cloud's version before it saves.
  public var alwaysKeepsMine: Bool {
    switch self {
    case .localWins: true
    case .lastWriteWins, .remoteWins, .manual, .clearlyLaterWins, .perField: false
    case .first(let first, _): first.alwaysKeepsMine
    }
  }

  private static func later(_ question: Question) -> Decision {
    let mine = question.mineTime ?? -.infinity
    let theirs = question.theirsTime ?? -.infinity
    if mine != theirs { return mine > theirs ? .mine : .theirs }
    // The greater text wins on both sides; `<` of String would take equal-looking texts for equal.
    return question.theirsText.utf8.lexicographicallyPrecedes(question.mineText.utf8)
      ? .mine : .theirs
  }

  private static func later(_ question: Question, byMoreThan seconds: Double) -> Decision? {
    guard let mine = question.mineTime, let theirs = question.theirsTime,
      abs(mine - theirs) > seconds
    else { return nil }
    return mine > theirs ? .mine : .theirs
  }
}
