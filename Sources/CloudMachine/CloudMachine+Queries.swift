import CloudProtocol
import Records

extension CloudMachine {
  /// The scan for a page of the records that match a query, in the requested order and then by ID;
  /// its first slice is read.
  ///
  /// Rules: CS-71 to CS-90, WS-45 to WS-53.
  func scan(_ request: QueryRecords, of call: AdmittedCall) throws -> QueryScan {
    let context = call.context
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
    let limit = try queryLimit(request.limit)
    var scan = try QueryScan(
      prepared, after: start, limit: limit, fields: request.fields,
      step: QueryScan.firstStep(of: query, limit: limit), zones: zones, namesZone: zone != nil,
      binding: binding, call)
    try scan.read(from: context.storage)
    return scan
  }

  /// The first slice of a query in a zone; `nil` if the query is refused.
  func firstPage(
    _ request: QueryRecords, in zone: ZoneID, of home: DatabaseID
  ) -> ReadPlan.TypePage? {
    guard let limit = try? queryLimit(request.limit) else { return nil }
    let start = request.cursor.flatMap(QueryPosition.record(in:))
    return ReadPlan.TypePage(
      type: request.query.recordType, zone: ZoneID(name: zone.name), database: home,
      after: request.query.sorts.isEmpty ? start?.name : nil,
      limit: QueryScan.firstStep(of: request.query, limit: limit))
  }

  /// The zones that a query searches, in order.
  private func zones(
    queried zone: ZoneID?, _ context: RequestContext
  ) throws -> [ZoneID] {
    if let zone { return [try context.opened(zone)] }
    switch context.database.scope {
    case .shared:
      throw Refusal(
        .invalidArguments, "SharedDB does not support Zone Wide queries; name the zone to look in")
    case .public: return [try context.opened(.default)]
    case .private:
      let custom = try context.storage.zones(in: context.database)
        .filter { $0.deletion == nil && $0.id != .default }.map(\.id)
      return ([.default] + custom).sorted()
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
  /// The zone in the spelling of its records; throws if the requester cannot use it.
  fileprivate func opened(_ zone: ZoneID) throws -> ZoneID {
    switch try access(to: zone) {
    case .success(let access): return access.id
    case .failure(let error): throw Refusal(error)
    }
  }

  /// The prepared `query`, or the error of an invalid query.
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
    if let error = limits.excess(of: query) { return .failure(error) }
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
