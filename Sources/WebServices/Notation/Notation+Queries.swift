package import CloudProtocol
package import Records

/// Queries. Rules: WS-45 to WS-53.
extension Notation {
  /// The names of system fields that are not prefixes of the raw names.
  private static let systemFields: [(name: String, field: SystemField)] = [
    ("recordName", .recordID), ("share", .share), ("parent", .parent),
    ("createdUserRecordName", .createdBy), ("createdTimestamp", .created),
    ("modifiedTimestamp", .modified), ("modifiedUserRecordName", .modifiedBy),
  ]

  /// A query.
  package func json(_ query: Query, zone: ZoneID) -> JSON {
    var sorts: [JSON] = []
    for sort in query.sorts {
      var members = fieldName(sort.key)
      members.add("ascending", .bool(sort.ascending))
      members.add("relativeLocation", sort.relativeTo.map { json(.location($0), in: zone) })
      sorts.append(.object(members))
    }
    var filters: [JSON] = []
    for filter in query.filters {
      var members = fieldName(filter.key)
      members.add("comparator", .string(filter.comparator.rawValue))
      members.add("fieldValue", json(filter.value, in: zone))
      members.add("distance", filter.distance.map { .number($0.isFinite ? $0 : 0) })
      members.add(Notation.extra, exact(filter.distance))
      filters.append(.object(members))
    }
    return .members([
      "recordType": .string(query.recordType),
      "filterBy": filters.isEmpty ? nil : .array(filters),
      "sortBy": sorts.isEmpty ? nil : .array(sorts),
    ])
  }

  private func exact(_ distance: Double?) -> JSON? {
    guard let distance, !distance.isFinite else { return nil }
    return exact { $0.write(distance) }
  }

  private func fieldName(_ key: String) -> JSON.Members {
    var members = JSON.Members()
    if let system = Notation.systemFields.first(where: { $0.field.rawValue == key }) {
      members.add("systemFieldName", .string(system.name))
    } else {
      members.add("fieldName", .string(key))
    }
    return members
  }

  /// A query.
  package func query(_ json: JSON, zone: ZoneID) throws(CloudError) -> Query {
    var query = Query(recordType: try json.text("recordType"))
    for value in try json.optionalList("filterBy") {
      query.filters.append(try filter(value, zone))
    }
    for value in try json.optionalList("sortBy") {
      var place: Location?
      if let relative = value["relativeLocation"] {
        guard case .location(let found) = try self.value(relative, in: zone) else {
          throw .malformed("'relativeLocation' must be a location")
        }
        place = found
      }
      query.sorts.append(
        Query.Sort(
          key: try key(value), ascending: try value.flag("ascending") ?? true, relativeTo: place))
    }
    return query
  }

  private func filter(_ json: JSON, _ zone: ZoneID) throws(CloudError) -> Query.Filter {
    // One client uses a different name for a comparator.
    let name = try json.text("comparator")
    guard
      let comparator = Query.Filter.Comparator(
        rawValue: name == "CONTAINS_ANY" ? "LIST_CONTAINS_ANY" : name)
    else {
      let usual: [Query.Filter.Comparator] = [
        .equals, .lessThan, .greaterThan, .near, .isIn, .beginsWith, .listContains,
        .containsAllTokens,
      ]
      throw .unknown(
        name, "comparator", usual.map(\.rawValue) + ["or another of CloudKit's"])
    }
    let value = try json.object("fieldValue")
    if comparator == .isIn || comparator == .isNotIn {
      // The live service does the same: without a type it cannot distinguish a list from a value.
      guard try value.optionalText("type")?.hasSuffix("_LIST") == true else {
        throw .malformed("BadRequestException: Unexpected input")
      }
    }
    let exactDistance = try exact(in: json) { (reader) throws(ByteFormatError) in
      try reader.double()
    }
    let distance = json["distance"]?.double
    guard distance != nil || json["distance"] == nil else {
      throw .malformed("'distance' must be a number of metres")
    }
    return Query.Filter(
      key: try key(json), comparator: comparator, value: try self.value(value, in: zone),
      distance: exactDistance ?? distance)
  }

  /// The field of a filter or sort; empty for the full text of the record.
  private func key(_ json: JSON) throws(CloudError) -> String {
    if let name = try json.optionalText("systemFieldName") {
      guard json["fieldName"] == nil else {
        throw .malformed("'fieldName' and 'systemFieldName' exclude each other")
      }
      if let system = Notation.systemFields.first(where: { $0.name == name }) {
        return system.field.rawValue
      }
      guard SystemField(rawValue: name) != nil else {
        throw .unknown(name, "system field", Notation.systemFields.map(\.name))
      }
      return name
    }
    return try json.optionalText("fieldName") ?? ""
  }

  /// The fields in a response: those in `desiredKeys`, or all.
  package func fieldSelection(_ json: JSON) throws(CloudError) -> FieldSelection? {
    guard let keys = try names(in: json, "desiredKeys") else { return nil }
    return keys.isEmpty ? FieldSelection.none : .keys(keys)
  }

  /// The names in the list called `name`; `nil` when it is absent.
  /// - Throws: `limitExceeded` when there are more than a request may ask for.
  func names(in json: JSON, _ name: String) throws(CloudError) -> [String]? {
    guard let names = try json.texts(name) else { return nil }
    guard names.count <= FieldSelection.maximumNames else {
      throw CloudError(
        .limitExceeded,
        "'\(name)' holds \(names.count) names, more than the \(FieldSelection.maximumNames) that "
          + "it may hold; leave it out to ask for all")
    }
    return names
  }

  /// The same for a part of a request; where it says nothing, that of the whole request holds.
  func fieldSelection(
    _ part: JSON, over whole: FieldSelection
  ) throws(CloudError) -> FieldSelection {
    guard part.has("desiredKeys") else { return whole }
    return try fieldSelection(part) ?? .all
  }

  /// The value of `desiredKeys`; `nil` for all.
  package static func json(_ selection: FieldSelection) -> JSON? {
    switch selection {
    case .all: nil
    case .none: .array([])
    case .keys(let keys): .array(keys.map { .string($0) })
    }
  }
}
