import CloudProtocol
import Records

extension CloudMachine {
  /// A page of the database feed.
  ///
  /// Rules: CS-140 to CS-149.
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

  /// A page of a zone's feed: each changed record once, in its current state.
  ///
  /// The caller's own writes are included. A fetch without a token gets a deletion only if the
  /// requesting device created the record, or if it happened after the first page. Rules:
  /// CS-140 to CS-149.
  func zoneChanges(_ request: FetchZoneChanges, _ context: RequestContext) throws -> CloudReply {
    if context.database.scope == .public {
      throw Refusal(.invalidArguments, "the public database has no change feed")
    }
    let limit = try pageLimit(request.limit, limits.zoneChangesPage)
    let fields = try selected(request.fields)
    let access = try context.access(to: request.zone)
    if access.zone.id == .default {
      throw Refusal(.invalidArguments, "the default zone has no change feed")
    }
    let database = try context.databaseRow()
    let feed = try access.feed(in: database)
    // Positions in a viewer's feed use the owner's sequence numbers.
    let home = access.isShared ? try access.context.databaseRow() : database
    let trimmed = max(access.zone.trimmedThrough, access.mount?.trimmedThrough ?? 0)
    var start = try position(request.since, in: feed, trimmedThrough: trimmed, database: home)
    if access.isShared { start = access.walk(from: start, latest: home.sequence) }
    var page = ZoneChangesPage(
      zone: access.id, modified: [], deleted: [], token: ChangeToken(bytes: []),
      moreComing: false)
    let end = try fill(
      &page, from: start, limit: limit, bytes: request.recordBytes ?? .max, fields, access)
    page.token = end.token(of: feed)
    return .zoneChanges(page)
  }

  /// Adds the changes after `start` to `page`, and returns where the page ends.
  private func fill(
    _ page: inout ZoneChangesPage, from start: FeedPosition, limit: Int, bytes mostBytes: Int,
    _ fields: SelectedFields, _ access: ZoneAccess
  ) throws -> FeedPosition {
    let pageBytes = min(limits.pageBytes, mostBytes)
    var place = start
    var remaining = limit
    var bytes = 0
    // Invisible rows don't count toward the page; this bounds how many of them one call reads.
    var remainingReads = limit * 20
    var mostRows = CloudMachine.firstRows
    while true {
      let wanted = min(remaining + 1, mostRows)
      let rows = try access.context.storage.recordChanges(
        of: access.zone.id, in: access.home, after: place.sequence, limit: wanted)
      var bytesRead = 0
      for row in rows {
        guard remaining > 0, bytes < pageBytes, remainingReads > 0 else {
          page.moreComing = true
          return place
        }
        place.sequence = row.changedAt
        remainingReads -= 1
        switch access.visibleChange(of: row, after: start) {
        case .nothing: continue
        case .changed(var record):
          // Fields that are left out are read as well.
          let byteCount = record.byteCount
          bytesRead += byteCount
          bytes += byteCount
          record.fields = fields.applied(to: record.fields)
          page.modified.append(access.outward(record))
        case .gone:
          page.deleted.append(RecordDeletion(id: access.outward(row.id), type: row.type))
        }
        remaining -= 1
      }
      if rows.count < wanted { break }
      mostRows = max(1, limits.pageBytes / max(1, bytesRead / rows.count))
    }
    return access.end
  }

  /// The number of rows that a page of a feed reads at once before the size of records is known.
  private static let firstRows = 32

  /// A zone as the requester sees it, with the current token of its feed; the default zone has no
  /// feed.
  func describe(_ access: ZoneAccess, _ context: RequestContext) throws -> Zone {
    var zone = access.described
    if access.zone.id != .default {
      zone.token = access.end.token(of: try access.feed(in: try context.databaseRow()))
    }
    return zone
  }

  /// The position of `token`; throws `changeTokenExpired` for a damaged token, a token of another
  /// feed, or one older than the remembered changes.
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
      // A device with a token of a replaced storage may have data that this storage never had.
      throw Refusal(
        CloudError(
          .changeTokenExpired,
          "the change token is not valid for this feed, or has expired; fetch without one",
          userDidResetEncryptedData: feed.zone == nil
            && FeedPosition.isOfAnotherStorage(token, than: feed.storage)))
    }
    return position
  }

  /// The page size for a requested limit of `asked`; 0 means the server's default.
  private func pageLimit(_ asked: Int?, _ most: Int) throws -> Int {
    let asked = asked ?? 0
    guard asked >= 0 else { throw Refusal(.invalidArguments, "a page limit is negative") }
    return asked == 0 ? max(1, most) : max(1, min(asked, most))
  }
}

extension ZoneAccess {
  /// The zone's feed in the requester's database.
  fileprivate func feed(in database: DatabaseRow) throws -> FeedPosition.Feed {
    FeedPosition.Feed(
      storage: try context.storage.identity(), database: database.id,
      incarnation: database.incarnation, zone: mount ?? zone)
  }

  /// The current end of the feed.
  fileprivate var end: FeedPosition {
    let end = max(zone.changedAt, zone.trimmedThrough)
    return isShared
      ? FeedPosition(visitedThrough: max(end, mount?.trimmedThrough ?? 0))
      : FeedPosition(sequence: end)
  }
}
