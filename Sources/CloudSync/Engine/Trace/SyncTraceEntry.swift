import Foundation

/// An action or decision of an engine.
///
/// It contains kinds, numbers and times only: no names of records, zones or accounts and no record
/// content. Not in CloudKit.
public struct SyncTraceEntry: Codable, Hashable, Sendable {
  /// The kinds of entries.
  public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The app added or removed pending changes; `name` is `add` or `remove`.
    case change
    /// A push arrived, the account may have changed, or the network returned.
    case signal
    /// The engine entered the stage `name`; see Docs/StateMachine.md.
    case stage
    /// The engine waits, for the reason `name`.
    case wait
    /// A request was sent.
    case request
    /// A request was answered or failed.
    case answer
    /// The delegate handled an event.
    case event
    /// The delegate supplied a batch or options.
    case question
    /// A manual operation ended.
    case operation
  }

  /// The time in seconds since the engine started; the end, for entries with a duration.
  public var time: Double

  /// Which part of the engine's work the entry reports.
  public var kind: Kind

  /// The name within the kind: of a request, an event, a stage or a reason.
  public var name: String

  /// The number of the request, also in the entry of its answer.
  public var request: UInt64?

  /// Numbers of items, such as `saved` and `failed`.
  public var counts: [String: Int]?

  /// The duration in seconds.
  public var duration: Double?

  /// The end of a wait, in seconds since the engine started.
  public var until: Double?

  /// The name of the error code, for a failure.
  public var error: String?

  /// Creates an entry.
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

  /// The entry as one line of JSON with sorted keys, without a line break.
  public var jsonLine: String { jsonText() }

  /// Decodes a line written by `jsonLine`.
  ///
  /// - Throws: `DecodingError` when the line is not an entry.
  public init(jsonLine: some StringProtocol) throws {
    self = try JSONDecoder().decode(SyncTraceEntry.self, from: Data(jsonLine.utf8))
  }
}
