import CloudProtocol
import Records

extension CloudMachine {
  /// A page of the records that match a query, in the order asked and then by ID.
  ///
  /// Source: cloudkit-surface 1.8, web-services 1.5.
  func queryRecords(_ request: QueryRecords, _ context: RequestContext) throws -> CloudReply {
    let zone = request.zone
    let zones = try zones(queried: zone, context)
    let query = request.query
    let prepared: PreparedQuery
    switch try context.prepared(query) {
    case .success(let query): prepared = query
    case .failure(let error): throw Refusal(error)
    }
    let binding = QueryPosition.binding(
      storage: try context.storage.identity(), database: context.database,
      user: context.account?.user, zone: zone, query: query)
    let start = try request.cursor.map { cursor in
      guard let position = QueryPosition(cursor, of: binding) else {
        throw Refusal(
          .invalidArguments,
          "the cursor is damaged, or belongs to another query, zone, database or account")
      }
      return position
    }
    var builder = QueryPageBuilder(
      prepared, after: start, limit: try queryLimit(request.limit), fields: request.fields)
    for zone in zones {
      try offer(recordsOf: zone, to: &builder)
      if prepared.isUnsorted, builder.isFull(pageBytes: limits.pageBytes) { break }
    }
    return .queried(builder.page(pageBytes: limits.pageBytes, binding: binding))
  }

  /// The zones a query looks in, in order.
  private func zones(
    queried zone: ZoneID?, _ context: RequestContext
  ) throws -> [ZoneAccess] {
    if let zone { return [try context.opened(zone)] }
    switch context.database.scope {
    case .shared:
      throw Refusal(
        .invalidArguments, "SharedDB does not support Zone Wide queries; name the zone to look in")
    case .public: return [try context.opened(.default)]
    case .private:
      let custom = try context.storage.zones(in: context.database)
        .filter { $0.deletion == nil && $0.id != .default }.map(\.id)
      return try ([.default] + custom).sorted().map { try context.opened($0) }
    }
  }

  /// Shows the records of one zone to `builder`, a few at a time.
  private func offer(
    recordsOf access: ZoneAccess, to builder: inout QueryPageBuilder
  ) throws {
    var name: String?
    if builder.query.isUnsorted, let start = builder.start {
      if access.id < start.id.zone { return }
      if access.id == start.id.zone { name = start.id.name }
    }
    // Most of a page's records are often among the first; whole scans go on in larger steps.
    var step = builder.query.isUnsorted ? min(builder.limit + 1, 64) : 256
    while true {
      let rows = try access.context.storage.records(
        ofType: builder.query.recordType, in: access.zone.id, of: access.home, after: name,
        limit: step)
      for row in rows where access.shows(row) {
        guard let record = row.record else { continue }
        builder.offer(access.outward(record))
        if builder.query.isUnsorted, builder.isFull(pageBytes: limits.pageBytes) { return }
      }
      guard let last = rows.last, rows.count == step else { return }
      name = last.id.name
      step = 256
    }
  }

  private func queryLimit(_ asked: Int?) throws -> Int {
    let asked = asked ?? 0
    guard asked >= 0 else { throw Refusal(.invalidArguments, "a limit of results is negative") }
    let limit = asked == 0 ? limits.queryPage : asked
    return max(1, min(limit, limits.queryPageMaximum))
  }
}

extension RequestContext {
  /// The zone as the asker may use it; ends the call when there is none.
  fileprivate func opened(_ zone: ZoneID) throws -> ZoneAccess {
    switch try access(to: zone) {
    case .success(let access): return access
    case .failure(let error): throw Refusal(error)
    }
  }

  /// `query` ready to be put to records, or why it makes no sense.
  func prepared(_ query: Query) throws -> Result<PreparedQuery, CloudError> {
    if query.recordType == RequestContext.userRecordType {
      return .failure(
        CloudError(.invalidArguments, "records of the system's type Users can't be queried"))
    }
    if query.recordType != "cloudkit.share",
      let error = names.faultOfRecordType(query.recordType)
    {
      return .failure(error)
    }
    let type = try storage.recordType(
      RecordTypeID(
        container: database.container, environment: database.environment, name: query.recordType))
    do {
      return .success(try PreparedQuery(query, type: type, user: account?.user))
    } catch {
      return .failure(error)
    }
  }
}
