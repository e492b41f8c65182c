import CloudProtocol
import Records

/// A place in a change feed, as it stands in a token.
///
/// A token names the feed it belongs to in full: the storage, the database and its incarnation,
/// and for a zone feed the zone and its incarnation. It is valid only where all of that agrees,
/// so it can be refused but never misread (RELIABILITY I10).
struct FeedPosition: Hashable {
  /// The feed a token belongs to.
  struct Feed: Hashable {
    var storage: UInt64
    var database: DatabaseID
    var incarnation: UInt64
    /// The zone and its incarnation; `nil` for the database's own feed.
    var zone: ZoneRow?

    /// Whether it is a visitor's feed of somebody else's zone.
    var isVisit: Bool { database.scope == .shared && zone != nil }
  }

  /// Every change up to this sequence number has been handed out.
  var sequence: UInt64

  /// Deletions up to here are not news: the fetch began with nothing, and they happened before.
  ///
  /// In the owner's feed it matters only while it is above `sequence`. In a visitor's feed it is
  /// where the walk's knowledge of what went begins.
  var floor: UInt64

  /// For a visitor's feed: changes up to here were known before the walk began that goes on here.
  var known: UInt64

  /// For a visitor's feed: the latest change when that walk began.
  ///
  /// Coming into a share, or out of one, after that begins another walk.
  var start: UInt64

  private static let version: UInt8 = 1

  /// Starts a feed that knows everything up to `sequence`.
  init(sequence: UInt64, floor: UInt64 = 0) {
    self.sequence = sequence
    self.floor = floor > sequence ? floor : 0
    known = sequence
    start = sequence
  }

  /// A visitor's walk from nothing, when `latest` is the latest change.
  init(visitingSince latest: UInt64) {
    sequence = 0
    floor = latest
    known = 0
    start = latest
  }

  /// A visitor's place when everything up to `sequence` was handed out.
  init(visitedThrough sequence: UInt64) {
    self.init(sequence: sequence)
    floor = sequence
  }

  /// What `token` says, if it is whole and belongs to `feed`.
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

  /// Whether `token` is whole and was given out by another storage than `storage`.
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

  /// The token for this place in `feed`.
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

  /// Whether changes after this place are all still known, given what was forgotten and the
  /// latest sequence number there is.
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
