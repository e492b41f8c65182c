import CloudProtocol
import Records

extension ReferenceDatabase {
  func records(_ fetch: FetchRecords) throws(CloudError) -> [ItemResult<RecordID, Record>] {
    guard fetch.ids.count <= Limits.items else { throw refusal(.limitExceeded) }
    return fetch.ids.map { id in
      guard let zone = zones[id.zone.name] else {
        return ItemResult(id: id, .failure(missing(id.zone)))
      }
      guard var record = zone.records[id.name]?.record else {
        return ItemResult(id: id, .failure(refusal(.unknownItem)))
      }
      record.fields = fetch.fields.applied(to: record.fields)
      return ItemResult(id: id, .success(record))
    }
  }

  /// Knows one filter and one sort, by whole numbers.
  func query(_ request: QueryRecords) throws(CloudError) -> QueryPage {
    let found = try candidates(request).filter { record in
      record.type == request.query.recordType
        && request.query.filters.allSatisfy { $0.holds(for: record) }
    }
    let sorted = found.sorted { first, second in
      guard let sort = request.query.sorts.first else { return first.id < second.id }
      let (one, other) = (first.number(sort.key), second.number(sort.key))
      guard one != other else { return first.id < second.id }
      let isBefore = (one ?? .min) < (other ?? .min)
      return sort.ascending ? isBefore : !isBefore
    }
    return QueryPage(records: sorted, cursor: nil)
  }

  private func candidates(_ request: QueryRecords) throws(CloudError) -> [Record] {
    guard let id = request.zone else {
      return zones.values.flatMap { $0.records.values.map(\.record) }
    }
    guard let zone = zones[id.name] else { throw missing(id) }
    return zone.records.values.map(\.record)
  }
}

extension Record {
  /// The whole number in the field `key`.
  func number(_ key: String) -> Int64? {
    guard case .int64(let number) = fields[key]?.value else { return nil }
    return number
  }
}

extension Query.Filter {
  /// Whether `record` is let through.
  fileprivate func holds(for record: Record) -> Bool {
    guard let number = record.number(key), case .int64(let bound) = value else { return false }
    switch comparator {
    case .equals: return number == bound
    case .lessThan: return number < bound
    case .greaterThanOrEquals: return number >= bound
    default: return false
    }
  }
}
