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

  func plain(_ error: CloudError) -> CloudError {
    var error = error
    error.serverRecord = error.serverRecord.map { plain($0) }
    return error
  }

  func plain<Value>(
    _ results: [ItemResult<RecordID, Value>], _ body: (Value) -> Value
  ) -> [ItemResult<RecordID, Value>] {
    results.map { ItemResult(id: plain($0.id), plain($0.outcome, body)) }
  }

  func plain<Value>(
    _ results: [ItemResult<ZoneID, Value>], _ body: (Value) -> Value
  ) -> [ItemResult<ZoneID, Value>] {
    results.map { ItemResult(id: plain($0.id), plain($0.outcome, body)) }
  }

  private func plain<ID, Value>(
    _ outcome: ItemResult<ID, Value>.Outcome, _ body: (Value) -> Value
  ) -> ItemResult<ID, Value>.Outcome {
    switch outcome {
    case .success(let value): .success(body(value))
    case .failure(let error): .failure(plain(error))
    }
  }
}
