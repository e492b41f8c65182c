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
    let access: ZoneAccess
    switch try context.access(to: request.zone) {
    case .success(let found): access = found
    case .failure(let error): throw Refusal(error)
    }
    if access.zone.id == .default {
      throw Refusal(.invalidArguments, "the default zone has no change feed")
    }
    let database = try context.databaseRow()
    let feed = try access.feed(in: database)
    // A visitor's places are counted as the owner's changes are.
    let home = access.isShared ? try access.context.databaseRow() : database
    let trimmed = max(access.zone.trimmedThrough, access.mount?.trimmedThrough ?? 0)
    var start = try position(request.since, in: feed, trimmedThrough: trimmed, database: home)
    if access.isShared { start = access.walk(from: start, latest: home.sequence) }
    var page = ZoneChangesPage(
      zone: access.id, modified: [], deleted: [], token: ChangeToken(bytes: []),
      moreComing: false)
    let end = try fill(&page, from: start, limit: limit, request.fields, access)
    page.token = end.token(of: feed)
    return .zoneChanges(page)
  }

  /// Puts what changed after `start` into `page`, and says where the page ends.
  private func fill(
    _ page: inout ZoneChangesPage, from start: FeedPosition, limit: Int,
    _ fields: FieldSelection, _ access: ZoneAccess
  ) throws -> FeedPosition {
    var place = start
    var room = limit
    var bytes = 0
    // Rows that are no news fill no page; this bounds how many of them one call walks over.
    var patience = limit * 20
    while true {
      let wanted = room + 1
      let rows = try access.context.storage.recordChanges(
        of: access.zone.id, in: access.home, after: place.sequence, limit: wanted)
      for row in rows {
        guard room > 0, bytes < limits.pageBytes, patience > 0 else {
          page.moreComing = true
          return place
        }
        place.sequence = row.changedAt
        patience -= 1
        switch news(of: row, after: start, access) {
        case .nothing: continue
        case .changed(var record):
          record.fields = fields.applied(to: record.fields)
          bytes += record.byteCount
          page.modified.append(access.outward(record))
        case .gone:
          page.deleted.append(RecordDeletion(id: access.outward(row.id), type: row.type))
        }
        room -= 1
      }
      if rows.count < wanted { break }
    }
    return access.end
  }

  /// A zone as the asker sees it, with where its feed stands; the default zone has none.
  func describe(_ access: ZoneAccess, _ context: RequestContext) throws -> Zone {
    var zone = access.described
    if access.zone.id != .default {
      zone.token = access.end.token(of: try access.feed(in: try context.databaseRow()))
    }
    return zone
  }

  private func news(
    of row: RecordRow, after start: FeedPosition, _ access: ZoneAccess
  ) -> ZoneAccess.News {
    let news = access.news(of: row, after: start)
    if news == .gone && plantedBugs.contains(.forgetTombstone) { return .nothing }
    return news
  }

  /// Where a fetch with `token` goes on; `changeTokenExpired` for anything that is not a whole
  /// token of this very feed, or older than what is still known.
  private func position(
    _ token: ChangeToken?, in feed: FeedPosition.Feed, trimmedThrough: UInt64,
    database: DatabaseRow
  ) throws -> FeedPosition {
    guard let token else {
      return feed.isVisit
        ? FeedPosition(visitingSince: database.sequence)
        : FeedPosition(sequence: 0, floor: database.sequence)
    }
    guard let position = FeedPosition(token, of: feed),
      position.isCovered(
        trimmedThrough: trimmedThrough, latest: database.sequence, isVisit: feed.isVisit)
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

extension ZoneAccess {
  /// The zone's feed as the asker's database has it.
  fileprivate func feed(in database: DatabaseRow) throws -> FeedPosition.Feed {
    FeedPosition.Feed(
      storage: try context.storage.identity(), database: database.id,
      incarnation: database.incarnation, zone: mount ?? zone)
  }

  /// Where the feed ends now.
  fileprivate var end: FeedPosition {
    let end = max(zone.changedAt, zone.trimmedThrough)
    return isShared
      ? FeedPosition(visitedThrough: max(end, mount?.trimmedThrough ?? 0))
      : FeedPosition(sequence: end)
  }
}
