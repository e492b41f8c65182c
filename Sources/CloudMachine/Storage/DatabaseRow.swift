public import Records

/// The row of a database.
public struct DatabaseRow: Hashable, Sendable, Codable {
  /// The database.
  public var id: DatabaseID
  /// Distinguishes the database from an earlier one with the same name.
  public var incarnation: UInt64
  /// The latest sequence number of a change; never decreases.
  public var sequence: UInt64
  /// The latest time of a change; the next one is later.
  public var latest: Timestamp
  /// Zone deletions up to here are forgotten.
  public var trimmedThrough: UInt64
  /// The total byte count of its records.
  public var byteCount: Int

  /// Creates the row of a database.
  public init(
    id: DatabaseID, incarnation: UInt64, sequence: UInt64 = 0,
    latest: Timestamp = Timestamp(secondsSinceReferenceDate: 0), trimmedThrough: UInt64 = 0,
    byteCount: Int = 0
  ) {
    self.id = id
    self.incarnation = incarnation
    self.sequence = sequence
    self.latest = latest
    self.trimmedThrough = trimmedThrough
    self.byteCount = byteCount
  }
}
