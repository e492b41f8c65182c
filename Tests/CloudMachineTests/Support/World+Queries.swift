import CloudMachine
import CloudProtocol
import Records

extension World {
  /// One page of a query's answer.
  func query(
    _ query: Query, zone: ZoneID? = World.zone, cursor: QueryCursor? = nil, limit: Int? = nil,
    fields: FieldSelection = .all, as caller: Caller? = nil, in scope: DatabaseScope = .private
  ) throws -> QueryPage {
    let request = QueryRecords(
      query: query, zone: zone, cursor: cursor, limit: limit, fields: fields)
    guard case .queried(let page) = try ask(.queryRecords(request), as: caller, in: scope).reply()
    else { throw Unexpected() }
    return page
  }

  /// The names of all records that match, page after page, or what the cloud said instead.
  func find(
    _ filters: [Query.Filter] = [], _ sorts: [Query.Sort] = [], type: String = "Item",
    zone: ZoneID? = World.zone, limit: Int? = nil, as caller: Caller? = nil,
    in scope: DatabaseScope = .private
  ) throws -> String {
    let query = Query(recordType: type, filters: filters, sorts: sorts)
    var names: [String] = []
    var cursor: QueryCursor?
    do {
      repeat {
        let page = try self.query(
          query, zone: zone, cursor: cursor, limit: limit, as: caller, in: scope)
        names += page.records.map(\.id.name)
        cursor = page.cursor
      } while cursor != nil
    } catch let error as CloudError {
      return "! \(error.words)"
    }
    return names.joined(separator: " ")
  }

  /// What the cloud says of a query that it refuses.
  func refusal(
    _ filters: [Query.Filter] = [], _ sorts: [Query.Sort] = [], type: String = "Item"
  ) throws -> String {
    let query = Query(recordType: type, filters: filters, sorts: sorts)
    switch try ask(.queryRecords(QueryRecords(query: query))).result {
    case .success: return "it was answered"
    case .failure(let error):
      return error.code == .invalidArguments ? error.message : "\(error)"
    }
  }
}

/// A filter in one line.
func filter(
  _ key: String, _ comparator: Query.Filter.Comparator, _ value: FieldValue,
  distance: Double? = nil
) -> Query.Filter {
  Query.Filter(key: key, comparator: comparator, value: value, distance: distance)
}

/// A sort in one line.
func by(_ key: String, ascending: Bool = true, from place: Location? = nil) -> Query.Sort {
  Query.Sort(key: key, ascending: ascending, relativeTo: place)
}

/// A list of texts.
func texts(_ texts: String...) -> FieldValue { .list(texts.map { .string($0) }) }

/// A pointer that deletes nothing.
func pointer(_ name: String, _ zone: ZoneID = World.zone) -> FieldValue {
  .reference(Reference(target: id(name, zone), action: .none))
}
