import CloudProtocol
import Records

/// Converts a reply to the spelling of the request.
///
/// An item is named as in the request, with every ID inside it in the same spelling, so that a
/// client finds the result by its own ID. The creator and modifier of a record are
/// `ZoneID.currentOwner` if they are the requester. Docs/Decisions/0016.
struct ReplySpelling {
  /// The requester; `nil` without an account.
  let user: UserID?

  /// Converts `reply`, in the spelling of rows, to the spelling of the original `request`.
  func respelled(_ reply: CloudReply, for request: CloudRequest) -> CloudReply {
    switch (reply, request) {
    case (.zones(let results), .fetchZones(let asked?)):
      return .zones(respelled(results, as: asked, respelled))
    case (.zonesModified(let saved, let deleted), .modifyZones(let request)):
      return .zonesModified(
        saved: respelled(saved, as: request.save, respelled),
        deleted: respelled(deleted, as: request.delete) { done, _ in done })
    case (.zoneChanges(var page), .fetchZoneChanges(let request)):
      let zone = request.zone
      page.zone = zone
      page.modified = page.modified.map { respelled($0, in: zone) }
      for index in page.deleted.indices where page.deleted[index].id.zone != zone {
        page.deleted[index].id.zone = zone
      }
      return .zoneChanges(page)
    case (.records(let results), .fetchRecords(let request)):
      return .records(respelled(results, as: request.ids, respelled))
    case (.recordsModified(let saved, let deleted), .modifyRecords(let request)):
      return .recordsModified(
        saved: respelled(saved, as: request.save.map(\.id), respelled),
        deleted: respelled(deleted, as: request.delete) { done, _ in done })
    case (.subscriptionsModified(let saved, let deleted), .modifySubscriptions(let request)):
      return .subscriptionsModified(
        saved: zip(saved, request.save).map { result, asked in
          result.error == nil ? ItemResult(id: asked.id, .success(asked)) : result
        }, deleted: deleted)
    case (.queried(var page), .queryRecords(let request)):
      page.records = page.records.map { respelled($0, in: request.zone ?? $0.id.zone) }
      return .queried(page)
    case (.sharesResolved(let results), _):
      return .sharesResolved(
        results.map { result in
          guard case .success(var metadata) = result.outcome else { return result }
          metadata.share = respelled(metadata.share, in: metadata.share.id.zone)
          metadata.root = metadata.root.map { respelled($0, in: $0.id.zone) }
          return ItemResult(id: result.id, .success(metadata))
        })
    case (.sharesAccepted(let results), _):
      return .sharesAccepted(
        results.map { result in
          guard case .success(let share) = result.outcome else { return result }
          return ItemResult(id: result.id, .success(respelled(share, in: share.id.zone)))
        })
    default: return reply
    }
  }

  /// `results` under the IDs of the request.
  private func respelled<ID, Value>(
    _ results: [ItemResult<ID, Value>], as asked: [ID], _ respell: (Value, ID) -> Value
  ) -> [ItemResult<ID, Value>] {
    zip(results, asked).map { result, id in
      switch result.outcome {
      case .success(let value): return ItemResult(id: id, .success(respell(value, id)))
      case .failure(var error):
        if let record = error.serverRecord {
          error.serverRecord = respelled(record, in: (id as? RecordID)?.zone ?? record.id.zone)
        }
        return ItemResult(id: id, .failure(error))
      }
    }
  }

  private func respelled(_ zone: Zone, as asked: ZoneID) -> Zone {
    var zone = zone
    zone.id = asked
    zone.share?.zone = asked
    return zone
  }

  private func respelled(_ record: Record, as asked: RecordID) -> Record {
    var record = respelled(record, in: asked.zone)
    if record.id != asked { record.id = asked }
    return record
  }

  /// `record` with its zone, and one's own zones that it refers to, spelled as `zone` is.
  private func respelled(_ record: Record, in zone: ZoneID) -> Record {
    var record = record
    if zone.owner != record.id.zone.owner {
      record.respell {
        guard $0.zone.owner == ZoneID.currentOwner else { return $0 }
        return RecordID(name: $0.name, zone: ZoneID(name: $0.zone.name, owner: zone.owner))
      }
    }
    guard let user else { return record }
    if record.created?.user == user { record.created?.user = .currentUser }
    if record.modified?.user == user { record.modified?.user = .currentUser }
    return record
  }
}

extension UserID {
  /// The current user, in replies.
  static let currentUser = UserID(ZoneID.currentOwner)
}
