import CloudProtocol
import Records
import SyncMachine

/// The two names of a user's own zones, and how the checkers bring them to one.
///
/// Written from Docs/Decisions/0016, apart from what the engine and the server do about it: models
/// and checkers know `ZoneID.currentOwner` alone, and IDs are converted where they come from an
/// app's engine or go to it.
struct ZoneSpelling: Sendable {
  /// The user; `nil` while none is known, when there is one name only.
  var user: UserID?

  /// `zone` by the one name that checkers know.
  func plain(_ zone: ZoneID) -> ZoneID {
    guard let user, zone.owner == user.rawValue else { return zone }
    return ZoneID(name: zone.name)
  }

  /// `id` with its zone by the one name that checkers know.
  func plain(_ id: RecordID) -> RecordID { RecordID(name: id.name, zone: plain(id.zone)) }

  /// `zone` by the user's name; `nil` where it has no such name.
  func named(_ zone: ZoneID) -> ZoneID? {
    guard let user, zone.owner == ZoneID.currentOwner else { return nil }
    return ZoneID(name: zone.name, owner: user.rawValue)
  }

  /// `id` with its zone by the user's name; `nil` where it has no such name.
  func named(_ id: RecordID) -> RecordID? {
    named(id.zone).map { RecordID(name: id.name, zone: $0) }
  }

  /// `record` with every ID in it by the name that checkers know.
  func plain(_ record: Record) -> Record {
    guard let user, record.id.zone.owner == user.rawValue else { return record }
    var record = record
    record.id = plain(record.id)
    record.parent = record.parent.map { plain($0) }
    record.share = record.share.map { plain($0) }
    return record
  }

  func plain(_ zone: Zone) -> Zone {
    var zone = zone
    zone.id = plain(zone.id)
    zone.share = zone.share.map { plain($0) }
    return zone
  }

  func plain<Value>(
    _ results: [ItemResult<RecordID, Value>], _ body: (Value) -> Value
  ) -> [ItemResult<RecordID, Value>] {
    results.map { $0.converted(plain($0.id), body) { plain($0) } }
  }

  func plain<Value>(
    _ results: [ItemResult<ZoneID, Value>], _ body: (Value) -> Value
  ) -> [ItemResult<ZoneID, Value>] {
    results.map { $0.converted(plain($0.id), body) { plain($0) } }
  }
}

extension ItemResult {
  /// The result of the item as `id` names it, with its value or the record of its error converted.
  func converted(
    _ id: ID, _ value: (Value) -> Value, record: (Record) -> Record
  ) -> ItemResult {
    switch outcome {
    case .success(let success): return ItemResult(id: id, .success(value(success)))
    case .failure(var error):
      error.serverRecord = error.serverRecord.map(record)
      return ItemResult(id: id, .failure(error))
    }
  }
}
