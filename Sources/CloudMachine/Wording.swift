import CloudProtocol
import Records

/// Answers in the asker's words.
///
/// An item is named as it was asked for, with every ID inside it in the same spelling, so that a
/// client finds what it asked for by the ID it has. Who made and who changed a record is
/// `ZoneID.currentOwner` where it is the asker. Docs/Decisions/0016.
struct Wording {
  /// Who asks; `nil` without an account.
  let user: UserID?

  /// `reply`, in the spelling of rows, as the answer to `request` as it came.
  func worded(_ reply: CloudReply, for request: CloudRequest) -> CloudReply {
    switch (reply, request) {
    case (.zones(let results), .fetchZones(let asked?)):
      return .zones(worded(results, as: asked, worded))
    case (.zonesModified(let saved, let deleted), .modifyZones(let request)):
      return .zonesModified(
        saved: worded(saved, as: request.save, worded),
        deleted: worded(deleted, as: request.delete) { done, _ in done })
    case (.zoneChanges(var page), .fetchZoneChanges(let request)):
      let zone = request.zone
      page.zone = zone
      page.modified = page.modified.map { worded($0, in: zone) }
      for index in page.deleted.indices where page.deleted[index].id.zone != zone {
        page.deleted[index].id.zone = zone
      }
      return .zoneChanges(page)
    case (.records(let results), .fetchRecords(let request)):
      return .records(worded(results, as: request.ids, worded))
    case (.recordsModified(let saved, let deleted), .modifyRecords(let request)):
      return .recordsModified(
        saved: worded(saved, as: request.save.map(\.id), worded),
        deleted: worded(deleted, as: request.delete) { done, _ in done })
    case (.subscriptionsModified(let saved, let deleted), .modifySubscriptions(let request)):
      return .subscriptionsModified(
        saved: zip(saved, request.save).map { result, asked in
          result.error == nil ? ItemResult(id: asked.id, .success(asked)) : result
        }, deleted: deleted)
    case (.queried(var page), .queryRecords(let request)):
      page.records = page.records.map { worded($0, in: request.zone ?? $0.id.zone) }
      return .queried(page)
    case (.sharesResolved(let results), _):
      return .sharesResolved(
        results.map { result in
          guard case .success(var metadata) = result.outcome else { return result }
          metadata.share = worded(metadata.share, in: metadata.share.id.zone)
          metadata.root = metadata.root.map { worded($0, in: $0.id.zone) }
          return ItemResult(id: result.id, .success(metadata))
        })
    case (.sharesAccepted(let results), _):
      return .sharesAccepted(
        results.map { result in
          guard case .success(let share) = result.outcome else { return result }
          return ItemResult(id: result.id, .success(worded(share, in: share.id.zone)))
        })
    default: return reply
    }
  }

  /// `results` under the IDs they were asked for by.
  private func worded<ID, Value>(
    _ results: [ItemResult<ID, Value>], as asked: [ID], _ word: (Value, ID) -> Value
  ) -> [ItemResult<ID, Value>] {
    zip(results, asked).map { result, id in
      switch result.outcome {
      case .success(let value): return ItemResult(id: id, .success(word(value, id)))
      case .failure(var error):
        if let record = error.serverRecord {
          error.serverRecord = worded(record, in: (id as? RecordID)?.zone ?? record.id.zone)
        }
        return ItemResult(id: id, .failure(error))
      }
    }
  }

  private func worded(_ zone: Zone, as asked: ZoneID) -> Zone {
    var zone = zone
    zone.id = asked
    zone.share?.zone = asked
    return zone
  }

  private func worded(_ record: Record, as asked: RecordID) -> Record {
    var record = worded(record, in: asked.zone)
    if record.id != asked { record.id = asked }
    return record
  }

  /// `record` with its zone, and one's own zones that it refers to, spelled as `zone` is.
  private func worded(_ record: Record, in zone: ZoneID) -> Record {
    var record = record
    if zone.owner != record.id.zone.owner {
      record.respell {
        guard $0.zone.owner == ZoneID.currentOwner else { return $0 }
        return RecordID(name: $0.name, zone: ZoneID(name: $0.zone.name, owner: zone.owner))
      }
    }
    guard let user else { return record }
    if record.created?.user == user { record.created?.user = .asker }
    if record.modified?.user == user { record.modified?.user = .asker }
    return record
  }
}

extension RequestContext {
  /// How the asker is answered.
  var wording: Wording { Wording(user: account?.user) }
}

extension UserID {
  /// Whoever reads it.
  static let asker = UserID(ZoneID.currentOwner)
}
