package import Records

/// Why bytes are not a state this version can use.
package enum StateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// They never were a state.
  case foreign
  /// A newer version wrote them.
  case future(version: UInt8)
  /// They were a state and are damaged.
  case damaged(ByteFormatError)

  /// What is wrong and what to do.
  package var description: String {
    switch self {
    case .foreign:
      "The data is not a sync state. Pass the data of the latest stateUpdate event, or nil."
    case .future(let version):
      "The sync state has format \(version), which is newer than this version reads "
        + "(\(SyncState.formatVersion)). Update the app, or start over with nil."
    case .damaged(let fault):
      "The sync state is damaged: \(fault). Restore an earlier one, or start over with nil."
    }
  }
}

/// The blob: magic, version, length and payload, checksum. The same state gives the same bytes.
///
/// Format 2 begins with the database that the state belongs to; a state without one is written in
/// format 1, as earlier versions did.
extension SyncState {
  /// The newest format this version reads.
  package static let formatVersion: UInt8 = 2

  /// The format this state is written in.
  package var format: UInt8 { database == nil ? 1 : 2 }

  private static let magic: [UInt8] = Array("CSYNC".utf8)

  /// The state as bytes.
  package func encoded() -> [UInt8] {
    let pending = records.encoded()
    var payload = ByteWriter(capacity: 256 + pending.count)
    database?.write(to: &payload)
    payload.write(optional: user) { $0.write($1.rawValue) }
    payload.write(optional: unannounced) {
      $0.write(optional: $1.previous) { $0.write($1.rawValue) }
    }
    payload.write(optional: databaseToken) { $0.write($1.bytes) }
    payload.write(list: zoneTokens.sorted { $0.key < $1.key }) {
      $0.write($1.key)
      $0.write($1.value.bytes)
    }
    payload.write(list: changedZones) { $0.write($1) }
    payload.write(list: expiredZones.sorted()) { $0.write($1) }
    payload.write(needsFetch)
    payload.write(hasUntrackedChanges)
    payload.write(optional: subscription) { $0.write($1.rawValue) }
    payload.write(list: zones.unsettled) {
      $0.write($1.kind.rawValue)
      $0.write($1.id)
    }
    payload.write(raw: pending)

    var blob = ByteWriter(capacity: payload.bytes.count + 24)
    blob.write(raw: SyncState.magic)
    blob.write(format)
    blob.write(payload.bytes)
    blob.write(fixed: Checksum.of(blob.bytes))
    return blob.bytes
  }

  /// The state that `bytes` hold.
  package init(decoding bytes: [UInt8]) throws(StateFormatError) {
    guard bytes.count > SyncState.magic.count, bytes.starts(with: SyncState.magic) else {
      throw .foreign
    }
    let version = bytes[SyncState.magic.count]
    guard version <= SyncState.formatVersion, version > 0 else {
      throw .future(version: version)
    }
    do throws(ByteFormatError) {
      var reader = ByteReader(bytes)
      _ = try reader.raw(SyncState.magic.count + 1)
      let payload = try reader.raw(try reader.count())
      let end = reader.offset
      guard try reader.fixed32() == Checksum.of(bytes[..<end]) else {
        throw reader.fault("the checksum does not match")
      }
      try reader.finish()
      try self.init(payload: payload, format: version)
    } catch {
      throw .damaged(error)
    }
  }

  /// What can still be read at the front of damaged bytes, without asking for the checksum.
  ///
  /// Any of it may be wrong: it is for people to look at, never for an engine to go on from.
  /// `nil` when the bytes never were a state, or are one of a newer version.
  package init?(salvaging bytes: [UInt8]) {
    let start = SyncState.magic.count
    guard bytes.count > start, bytes.starts(with: SyncState.magic),
      (1...SyncState.formatVersion).contains(bytes[start])
    else { return nil }
    self.init()
    var reader = ByteReader(bytes[(start + 1)...])
    do throws(ByteFormatError) {
      let length = Int(clamping: try reader.variable())
      var payload = ByteReader(try reader.raw(min(length, reader.remaining)))
      try read(from: &payload, format: bytes[start])
    } catch {
      // What was read until here stays.
    }
  }

  private init(payload: ArraySlice<UInt8>, format: UInt8) throws(ByteFormatError) {
    self.init()
    var reader = ByteReader(payload)
    try read(from: &reader, format: format)
    try reader.finish()
  }

  /// Takes one field after the other; after a fault those before it are there.
  private mutating func read(
    from reader: inout ByteReader, format: UInt8
  ) throws(ByteFormatError) {
    if format > 1 { database = try SyncedDatabase(from: &reader) }
    user = try reader.optional { (reader) throws(ByteFormatError) in UserID(try reader.string()) }
    unannounced = try reader.optional { (reader) throws(ByteFormatError) in
      let previous = try reader.optional { (reader) throws(ByteFormatError) in
        UserID(try reader.string())
      }
      return UnannouncedAccount(previous: previous)
    }
    databaseToken = try reader.optional { (reader) throws(ByteFormatError) in
      ChangeToken(bytes: try reader.byteArray())
    }
    for _ in 0..<(try reader.count()) {
      let zone = try reader.zoneID()
      zoneTokens[zone] = ChangeToken(bytes: try reader.byteArray())
    }
    changedZones = try reader.list { (reader) throws(ByteFormatError) in try reader.zoneID() }
    expiredZones = Set(
      try reader.list { (reader) throws(ByteFormatError) in try reader.zoneID() })
    needsFetch = try reader.bool()
    hasUntrackedChanges = try reader.bool()
    subscription = try reader.optional { (reader) throws(ByteFormatError) in
      SubscriptionID(try reader.string())
    }
    for _ in 0..<(try reader.count()) {
      let kind = try reader.changeKind()
      zones.add(PendingChange(kind, try reader.zoneID()))
    }
    try records.read(from: &reader)
  }
}

extension ByteReader {
  /// A byte that says whether something is saved or deleted.
  package mutating func changeKind() throws(ByteFormatError) -> ChangeKind {
    guard let kind = ChangeKind(rawValue: try byte()) else {
      throw fault("a change is neither a save nor a deletion")
    }
    return kind
  }
}
