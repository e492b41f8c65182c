import Foundation

/// One thing that an engine did or decided.
///
/// It holds kinds, numbers and times only: no name of a record, a zone or an account, and nothing
/// of what is in a record. Not in CloudKit.
public struct SyncTraceEntry: Codable, Hashable, Sendable {
  /// The kinds of entries.
  public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The app added or removed pending changes; `name` is `add` or `remove`.
    case change
    /// A push came, the account may have changed, or the network returned.
    case signal
    /// The engine moved to the stage `name`; see Docs/StateMachine.md.
    case stage
    /// The engine waits, for the reason `name`.
    case wait
    /// A request went out.
    case request
    /// The answer to a request came, or its failure.
    case answer
    /// The delegate was given an event, and returned.
    case event
    /// The delegate was asked for a batch or for options, and answered.
    case question
    /// A manual operation ended.
    case operation
  }

  /// When it was, in seconds since the engine began; for what took time, when it ended.
  public var time: Double

  /// The kind.
  public var kind: Kind

  /// What it was, within its kind: a request's or an event's name, a stage, a reason.
  public var name: String

  /// The number of the request, which its answer has too.
  public var request: UInt64?

  /// How much of what, such as `saved` and `failed`.
  public var counts: [String: Int]?

  /// How long it took, in seconds.
  public var duration: Double?

  /// Until when the engine waits, in seconds since it began.
  public var until: Double?

  /// The name of the error's code, where something failed.
  public var error: String?

  /// Takes something down.
  public init(
    time: Double, kind: Kind, name: String, request: UInt64? = nil, counts: [String: Int]? = nil,
    duration: Double? = nil, until: Double? = nil, error: String? = nil
  ) {
    self.time = time
    self.kind = kind
    self.name = name
    self.request = request
    self.counts = counts
    self.duration = duration
    self.until = until
    self.error = error
  }

  /// The entry as one line of JSON with sorted keys, without the end of the line.
  public var jsonLine: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  /// Reads what `jsonLine` wrote.
  ///
  /// - Throws: `DecodingError` when the line is no entry.
  public init(jsonLine: some StringProtocol) throws {
    self = try JSONDecoder().decode(SyncTraceEntry.self, from: Data(jsonLine.utf8))
  }
}
