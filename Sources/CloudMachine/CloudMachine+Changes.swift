import CloudProtocol
import Records

extension CloudMachine {
  /// A page of the database feed.
  ///
  /// Source: cloudkit-surface 2.5.
  func databaseChanges(
    _ request: FetchDatabaseChanges, _ context: RequestContext
  ) throws -> CloudReply {
    if context.database.scope == .public {
      throw Refusal(.invalidArguments, "the public database has no change feed")
    }
    let limit = try pageLimit(request.limit, limits.databaseChangesPage)
    let database = try context.databaseRow()
    let feed = FeedPosition.Feed(
      storage: try context.storage.identity(), database: database.id,
      incarnation: database.incarnation)
    let start = try position(
      request.since, in: feed, trimmedThrough: database.trimmedThrough, database: database)
    var page = DatabaseChangesPage(
      modified: [], deleted: [], token: ChangeToken(bytes: []), moreComing: false)
    var sequence = start.sequence
    let rows = try context.storage.zoneChanges(
      in: database.id, after: sequence, limit: limit + 1)
    for row in rows.prefix(limit) {
      sequence = row.changedAt
      guard let reason = row.deletion else {
        page.modified.append(row.id)
        continue
      }
      if row.changedAt > start.floor {
        page.deleted.append(ZoneDeletion(zone: row.id, reason: reason))
      }
    }
    page.moreComing = rows.count > limit
    if !page.moreComing { sequence = database.sequence }
    page.token = FeedPosition(sequence: sequence, floor: start.floor).token(of: feed)
    return .databaseChanges(page)
  }

  /// A page of a zone's feed: each changed record once, as it is now.
  ///
  /// Own writes are in it too. A fetch from nothing hears of deletions only when the asking
  /// device made the record or they happened since its first page. Source: cloudkit-surface 2.5.
  func zoneChanges(_ request: FetchZoneChanges, _ context: RequestContext) throws -> CloudReply {
    if context.database.scope == .public {
      throw Refusal(.invalidArguments, "the public database has no change feed")
    }
    let limit = try pageLimit(request.limit, limits.zoneChangesPage)
    let zone: ZoneRow
    switch try context.zone(context.spelled(request.zone)) {
    case .success(let row): zone = row
    case .failure(let error): throw Refusal(error)
    }
    if zone.id == .default {
      throw Refusal(.invalidArguments, "the default zone has no change feed")
    }
    let database = try context.databaseRow()
    let feed = FeedPosition.Feed(
      storage: try context.storage.identity(), database: database.id,
      incarnation: database.incarnation, zone: zone)
    let start = try position(
      request.since, in: feed, trimmedThrough: zone.trimmedThrough, database: database)
    var page = ZoneChangesPage(
      zone: zone.id, modified: [], deleted: [], token: ChangeToken(bytes: []), moreComing: false)
    let end = try fill(&page, from: start, limit: limit, request.fields, zone, context)
    page.token = end.token(of: feed)
    return .zoneChanges(page)
  }

  /// Puts what changed after `start` into `page`, and says where the page ends.
  private func fill(
    _ page: inout ZoneChangesPage, from start: FeedPosition, limit: Int,
    _ fields: FieldSelection, _ zone: ZoneRow, _ context: RequestContext
  ) throws -> FeedPosition {
    var sequence = start.sequence
    var room = limit
    var bytes = 0
    // Tombstones that are no news fill no page; this bounds how many of them one call walks over.
    var patience = limit * 20
    while true {
      let wanted = room + 1
      let rows = try context.storage.recordChanges(
        of: zone.id, in: context.database, after: sequence, limit: wanted)
      for row in rows {
        guard room > 0, bytes < limits.pageBytes, patience > 0 else {
          page.moreComing = true
          return FeedPosition(sequence: sequence, floor: start.floor)
        }
        sequence = row.changedAt
        patience -= 1
        if var record = row.record {
          record.fields = fields.applied(to: record.fields)
          bytes += record.byteCount
          page.modified.append(record)
          room -= 1
        } else if isNews(row, to: context.device, after: start.floor) {
          page.deleted.append(RecordDeletion(id: row.id, type: row.type))
          room -= 1
        }
      }
      if rows.count < wanted { break }
    }
    return FeedPosition(sequence: max(zone.changedAt, zone.trimmedThrough))
  }

  private func isNews(_ tombstone: RecordRow, to device: String?, after floor: UInt64) -> Bool {
    if plantedBugs.contains(.forgetTombstone) { return false }
    return tombstone.changedAt > floor || tombstone.device == device
  }

  /// Where a fetch with `token` goes on; `changeTokenExpired` for anything that is not a whole
  /// token of this very feed, or older than what is still known.
  private func position(
    _ token: ChangeToken?, in feed: FeedPosition.Feed, trimmedThrough: UInt64,
    database: DatabaseRow
  ) throws -> FeedPosition {
    guard let token else { return FeedPosition(sequence: 0, floor: database.sequence) }
    guard let position = FeedPosition(token, of: feed),
      position.isCovered(trimmedThrough: trimmedThrough, latest: database.sequence)
    else {
      throw Refusal(
        .changeTokenExpired,
        "the change token is not valid here, or not any more; fetch without one"
      )
    }
    return position
  }

  /// How many changes a page holds when `asked` were wanted; 0 leaves it to the server.
  private func pageLimit(_ asked: Int?, _ most: Int) throws -> Int {
    let asked = asked ?? 0
    guard asked >= 0 else { throw Refusal(.invalidArguments, "a page limit is negative") }
    return asked == 0 ? max(1, most) : max(1, min(asked, most))
  }
}
