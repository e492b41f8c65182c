import CloudProtocol
import Records

/// A position in a change feed, as encoded in a change token.
///
/// A token contains the full identity of its feed: the storage, the database and its incarnation,
/// and for a zone feed the zone and its incarnation. It is valid only if all of them match, so it
/// can be rejected but never misread. See I10 and I20 in Docs/Evidence/Reliability.md.
struct FeedPosition: Hashable {
  /// The feed a token belongs to.
  struct Feed: Hashable {
    var storage: UInt64
    var database: DatabaseID
    var incarnation: UInt64
    /// The zone and its incarnation; `nil` for the database feed.
    var zone: ZoneRow?

    /// Whether the feed is a viewer's feed of another user's zone.
    var isVisit: Bool { database.scope == .shared && zone != nil }
  }

  /// Every change up to this sequence number has been delivered.
  var sequence: UInt64

  /// Deletions up to here are omitted: the fetch started without a token, and they happened before.
  ///
  /// In the owner's feed it matters only while it is above `sequence`. In a viewer's feed,
  /// deletions after it are reported.
  var floor: UInt64

  /// For a viewer's feed: changes up to here were known before the current pass started.
  var known: UInt64

  /// For a viewer's feed: the latest change when the current pass started.
  ///
  /// Joining or leaving a share after that starts another pass.
  var start: UInt64

  private static let version: UInt8 = 1

  /// A position after everything up to `sequence`.
  init(sequence: UInt64, floor: UInt64 = 0) {
    self.sequence = sequence
    self.floor = floor > sequence ? floor : 0
    known = sequence
    start = sequence
  }

  /// The start of a viewer's first pass, when `latest` is the latest change.
  init(visitingSince latest: UInt64) {
    sequence = 0
    floor = latest
    known = 0
    start = latest
  }

  /// A viewer's position after everything up to `sequence` was delivered.
  init(visitedThrough sequence: UInt64) {
    self.init(sequence: sequence)
    floor = sequence
  }

  /// Decodes `token`; `nil` if it is damaged or belongs to another feed.
  init?(_ token: ChangeToken, of feed: Feed) {
    let prefix = FeedPosition.prefix(of: feed)
    guard token.bytes.count > prefix.count + 4, token.bytes.starts(with: prefix) else {
      return nil
    }
    let end = token.bytes.count - 4
    var reader = ByteReader(token.bytes[prefix.count...])
    do {
      sequence = try reader.variable()
      floor = try reader.variable()
      known = feed.isVisit ? try reader.variable() : 0
      start = feed.isVisit ? try reader.variable() : 0
      let checksum = try reader.fixed32()
      try reader.finish()
      guard checksum == Checksum.of(token.bytes[..<end]) else { return nil }
    } catch {
      return nil
    }
  }

  /// Whether `token` is intact and was issued by a storage other than `storage`.
  static func isOfAnotherStorage(_ token: ChangeToken, than storage: UInt64) -> Bool {
    guard token.bytes.count > 4 else { return false }
    let end = token.bytes.count - 4
    var reader = ByteReader(token.bytes)
    var tail = ByteReader(token.bytes[end...])
    do {
      let version = try reader.byte()
      let origin = try reader.fixed64()
      return try version == FeedPosition.version && origin != storage
        && tail.fixed32() == Checksum.of(token.bytes[..<end])
    } catch {
      return false
    }
  }

  /// The sequence number in `token`, whatever feed it belongs to; `nil` if it is damaged.
  static func sequence(in token: ChangeToken) -> UInt64? {
    var reader = ByteReader(token.bytes)
    do {
      _ = try (reader.byte(), reader.fixed64(), reader.string(), reader.string(), reader.byte())
      _ = try reader.optional { (reader) throws(ByteFormatError) in try reader.string() }
      _ = try reader.variable()
      _ = try reader.optional { (reader) throws(ByteFormatError) in
        (try reader.zoneID(), try reader.variable())
      }
      return try reader.variable()
    } catch {
      return nil
    }
  }

  /// The token for this position in `feed`.
  func token(of feed: Feed) -> ChangeToken {
    var writer = ByteWriter(capacity: 128)
    writer.write(raw: FeedPosition.prefix(of: feed))
    writer.write(variable: sequence)
    writer.write(variable: floor)
    if feed.isVisit {
      writer.write(variable: known)
      writer.write(variable: start)
    }
    writer.write(fixed: Checksum.of(writer.bytes))
    return ChangeToken(bytes: writer.bytes)
  }

  /// Whether all changes after this position are still stored, given the trimmed range and the
  /// latest sequence number.
  func isCovered(trimmedThrough: UInt64, latest: UInt64, isVisit: Bool) -> Bool {
    let covered = isVisit ? floor : max(sequence, floor)
    return covered >= trimmedThrough && max(sequence, floor) <= latest
  }

  private static func prefix(of feed: Feed) -> [UInt8] {
    var writer = ByteWriter(capacity: 128)
    writer.write(version)
    writer.write(fixed: feed.storage)
    writer.write(feed.database.container)
    writer.write(feed.database.environment.rawValue)
    writer.write(feed.database.scope.rawValue)
    writer.write(optional: feed.database.owner) { $0.write($1.rawValue) }
    writer.write(variable: feed.incarnation)
    writer.write(optional: feed.zone) {
      $0.write($1.id)
      $0.write(variable: $1.incarnation)
    }
    return writer.bytes
  }
}
