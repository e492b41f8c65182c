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
    let prepared = try context.prepared(query)
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
    let fields = try selected(request.fields)
    var scan = try QueryScan(
      prepared, after: start, limit: limit, fields: fields,
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
    if let zone { return [try context.access(to: zone).id] }
    switch context.database.scope {
    case .shared:
      throw Refusal(
        .invalidArguments, "SharedDB does not support Zone Wide queries; name the zone to look in")
    case .public: return [try context.access(to: .default).id]
    case .private: return ([.default] + (try context.customZones())).sorted()
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
  /// The prepared `query`; an invalid one is refused.
  func prepared(_ query: Query) throws -> PreparedQuery {
    if query.recordType == RequestContext.userRecordType {
      throw Refusal(.invalidArguments, "records of the system's type Users can't be queried")
    }
    if query.recordType != ShareDetails.recordType {
      try Refusal.check(names.faultOfRecordType(query.recordType))
    }
    try Refusal.check(limits.excess(of: query))
    let type = try storage.recordType(
      RecordTypeID(
        container: database.container, environment: database.environment, name: query.recordType))
    try refuseUnknown(query, type)
    do { return try PreparedQuery(query, type: type, user: account?.user) } catch {
      throw Refusal(error)
    }
  }

  /// Refuses a query for a record type or a field that a closed schema does not have.
  ///
  /// While the schema is open, the first save adds it, and the query finds nothing.
  private func refuseUnknown(_ query: Query, _ type: RecordTypeRow?) throws {
    guard limits.fixesFieldKinds, query.recordType != ShareDetails.recordType,
      let error = query.errorOfUnknownPart(in: type), try hasClosedSchema()
    else { return }
    throw Refusal(error)
  }

  /// Whether saves can add no record types and fields.
  func hasClosedSchema() throws -> Bool {
    try storage.schema(of: database.container, in: database.environment)?.isClosed ?? false
  }
}

extension Query {
  /// The error if there is no such record type, or if `type` lacks a field of the query.
  fileprivate func errorOfUnknownPart(in type: RecordTypeRow?) -> CloudError? {
    guard let type else {
      return CloudError(.unknownItem, "Did not find record type: \(recordType)")
    }
    let keys = filters.map(\.key) + sorts.map(\.key)
    return keys.first { !$0.isEmpty && SystemField(rawValue: $0) == nil && type[$0] == nil }.map {
      CloudError(
        .invalidArguments, "Did not find field '\($0)' in the record type \(recordType)")
    }
  }
}
