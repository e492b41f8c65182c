import CloudProtocol
import Records

/// Records by name and by query, and changes to them. Source: web-services 1.4 and 1.5.
extension Exchange {
  /// One operation of `records/modify`: its place among the saves or the deletions.
  private enum Operation: Sendable {
    case save(Int)
    case delete(Int)
  }

  static func recordsModify(
    _ body: JSON, _ notation: Notation, wantsToken: Bool, _ newName: () -> String
  ) throws(CloudError) -> Exchange {
    let zone = try notation.zone(in: body)
    var request = ModifyRecords(
      isAtomic: try body.flag("atomic") ?? true,
      fields: try notation.fieldSelection(body) ?? .all)
    var operations: [Operation] = []
    for value in try body.list("operations") {
      let record = try value.object("record")
      let type = try value.text("operationType")
      if type == "delete" || type == "forceDelete" {
        let id = try notation.recordID(record, in: zone)
        if type == "delete" {
          request.deleteTags[id] = ChangeTag(try record.text("recordChangeTag"))
        }
        operations.append(.delete(request.delete.count))
        request.delete.append(id)
      } else {
        operations.append(.save(request.save.count))
        request.save.append(try save(record, type, zone, notation, newName))
      }
    }
    let order = operations
    let ids = (request.save.map(\.id), request.delete)
    let fallback = request.save.first?.id.zone ?? request.delete.first?.zone ?? zone
    return Exchange(
      [.modifyRecords(request)] + (wantsToken ? [.fetchZones([fallback])] : [])
    ) { outcomes throws(CloudError) in
      guard case .recordsModified(let saved, let deleted) = try only(outcomes).get(),
        saved.count == ids.0.count, deleted.count == ids.1.count
      else { throw misplaced }
      var records: [JSON] = []
      for operation in order {
        switch operation {
        case .save(let index): records.append(json(saved[index], notation))
        case .delete(let index):
          let item = deleted[index]
          records.append(
            item.error.map { notation.json($0, of: name(item.id, notation)) }
              ?? .members([
                "recordName": .string(item.id.name), "deleted": .bool(true),
                "zoneID": notation.json(item.id.zone),
              ]))
        }
      }
      return .members(["records": .array(records), "syncToken": token(outcomes)])
    }
  }

  private static func save(
    _ record: JSON, _ type: String, _ zone: ZoneID, _ notation: Notation, _ newName: () -> String
  ) throws(CloudError) -> RecordSave {
    var save = try notation.save(record, in: zone, newName: newName)
    switch type {
    case "create":
      save.changeTag = nil
      save.policy = .ifServerRecordUnchanged
    case "update", "replace":
      guard save.changeTag != nil else {
        throw .malformed("the operation \(type) needs the record's 'recordChangeTag'")
      }
      save.policy = .ifServerRecordUnchanged
      save.clearsOtherFields = type == "replace"
    case "forceUpdate", "forceReplace":
      save.policy = .changedKeys
      save.clearsOtherFields = type == "forceReplace"
    default: throw .malformed("there is no 'operationType' called so")
    }
    return save
  }

  static func recordsLookup(_ body: JSON, _ notation: Notation) throws(CloudError) -> Exchange {
    let zone = try notation.zone(in: body)
    var ids: [RecordID] = []
    var own: [FieldSelection] = []
    let settings = body.only(["desiredKeys"])
    for value in try body.list("records") {
      ids.append(try notation.recordID(value, in: zone))
      own.append(try notation.fieldSelection(value.over(settings)) ?? .all)
    }
    let isUniform = own.allSatisfy { $0 == own.first }
    let selections = own
    let request = FetchRecords(ids: ids, fields: isUniform ? own.first ?? .all : .all)
    return Exchange(.fetchRecords(request)) { reply throws(CloudError) in
      guard case .records(let results) = reply, results.count == selections.count else {
        throw misplaced
      }
      return .members([
        "records": .array(
          zip(results, selections).map { result, selection in
            json(result, notation, isUniform ? .all : selection)
          })
      ])
    }
  }

  static func recordsQuery(
    _ body: JSON, _ notation: Notation, wantsToken: Bool
  ) throws(CloudError) -> Exchange {
    let named = try body["zoneID"].map { (value) throws(CloudError) in try notation.zone(value) }
    let isWide = try body.flag("zoneWide") ?? false
    let zone = named ?? (isWide ? nil : .default)
    let limit = try body.count("resultsLimit") ?? (notation.isExact ? nil : 200)
    let cursor = try body.optionalText("continuationMarker").map { (text) throws(CloudError) in
      guard let bytes = Notation.bytes(base64: text) else {
        throw .malformed("the 'continuationMarker' is none that was given out")
      }
      return QueryCursor(bytes: bytes)
    }
    let request = QueryRecords(
      query: try notation.query(try body.object("query"), zone: zone ?? .default), zone: zone,
      cursor: cursor, limit: limit, fields: try notation.fieldSelection(body) ?? .all)
    return Exchange(
      [.queryRecords(request)] + (wantsToken ? [.fetchZones([zone ?? .default])] : [])
    ) { outcomes throws(CloudError) in
      guard case .queried(let page) = try only(outcomes).get() else { throw misplaced }
      return .members([
        "records": .array(page.records.map { notation.json($0) }),
        "continuationMarker": page.cursor.map { .string(Notation.base64($0.bytes)) },
        "syncToken": token(outcomes),
      ])
    }
  }

  /// One record of an answer, or why there is none.
  static func json(
    _ result: ItemResult<RecordID, Record>, _ notation: Notation,
    _ selection: FieldSelection = .all
  ) -> JSON {
    switch result.outcome {
    case .success(var record):
      record.fields = selection.applied(to: record.fields)
      return notation.json(record)
    case .failure(let error): return notation.json(error, of: name(result.id, notation))
    }
  }

  /// The members that name a record in an error.
  private static func name(_ id: RecordID, _ notation: Notation) -> JSON.Members {
    var members = JSON.Members()
    members.add("recordName", .string(id.name))
    if notation.isExact { members.add("zoneID", notation.json(id.zone)) }
    return members
  }

  /// Where the zone's feed stands, by the second of two outcomes.
  private static func token(_ outcomes: [Outcome]) -> JSON? {
    guard outcomes.count > 1, case .success(.zones(let zones)) = outcomes[1] else { return nil }
    return zones.first?.value?.token.map { .string(Notation.base64($0.bytes)) }
  }
}
