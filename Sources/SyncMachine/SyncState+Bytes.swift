package import Records

/// The reason why bytes are rejected as a state.
package enum StateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are not a state.
  case foreign
  /// The bytes were written by a newer version.
  case future(version: UInt8)
  /// The bytes are a damaged state.
  case damaged(ByteFormatError)

  /// A description of the problem and its remedy.
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

/// The encoding of a state: magic, version, length, payload, checksum. It is deterministic.
///
/// Format 2 begins with the database of the state; a state without one is written in format 1, as
/// by earlier versions.
extension SyncState {
  /// The newest format that this version reads.
  package static let formatVersion: UInt8 = 2

  /// The format in which this state is written.
  package var format: UInt8 { database == nil ? 1 : 2 }

  private static let magic: [UInt8] = Array("CSYNC".utf8)

  /// The encoded state.
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

  /// Decodes a state.
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

  /// Decodes the readable beginning of damaged bytes, ignoring the checksum.
  ///
  /// Any part may be wrong: the result is for inspection, never for an engine. `nil` if the bytes
  /// are not a state, or were written by a newer version.
  package init?(recovering bytes: [UInt8]) {
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
      // The fields decoded so far are kept.
    }
  }

  private init(payload: ArraySlice<UInt8>, format: UInt8) throws(ByteFormatError) {
    self.init()
    var reader = ByteReader(payload)
    try read(from: &reader, format: format)
    try reader.finish()
  }

  /// Decodes the fields in order; after an error the earlier ones are set.
  private mutating func read(
    from reader: inout ByteReader, format: UInt8
  ) throws(ByteFormatError) {
    if format > 1 { database = try SyncedDatabase(from: &reader) }
    user = try reader.userID()
    unannounced = try reader.optional { (reader) throws(ByteFormatError) in
      UnannouncedAccount(previous: try reader.userID())
    }
    databaseToken = try reader.changeToken()
    for _ in 0..<(try reader.count()) {
      let zone = try reader.zoneID()
      zoneTokens[zone] = ChangeToken(bytes: try reader.byteArray())
    }
    changedZones = try reader.list { (reader) throws(ByteFormatError) in try reader.zoneID() }
    expiredZones = Set(
      try reader.list { (reader) throws(ByteFormatError) in try reader.zoneID() })
    needsFetch = try reader.bool()
    hasUntrackedChanges = try reader.bool()
    subscription = try reader.subscriptionID()
    for _ in 0..<(try reader.count()) {
      let kind = try reader.changeKind()
      zones.add(PendingChange(kind, try reader.zoneID()))
    }
    try records.read(from: &reader)
  }
}

extension ByteReader {
  /// A byte for a save or a deletion.
  package mutating func changeKind() throws(ByteFormatError) -> ChangeKind {
    guard let kind = ChangeKind(rawValue: try byte()) else {
      throw fault("a change is neither a save nor a deletion")
    }
    return kind
  }
}
