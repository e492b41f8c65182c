import CloudProtocol
import Records

extension Errand {
  static func fetchRecords(_ request: FetchRecords, _ notation: Notation) -> Errand {
    let ids = request.ids
    let body = JSON.members([
      "zoneID": ids.first.map { notation.json($0.zone) },
      "records": .array(ids.map { notation.json($0) }),
      "desiredKeys": Notation.json(request.fields),
    ])
    return Errand(.recordsLookup, of: notation.database, body: body) { answer throws(CloudError) in
      .records(
        try results(try answer.list("records"), of: ids, notation) { item, id throws(CloudError) in
          let record = try notation.record(item, in: id.zone)
          return ItemResult(id: record.id, .success(record))
        })
    }
  }

  static func modifyRecords(_ request: ModifyRecords, _ notation: Notation) -> Errand {
    let saves = request.save.map { save in
      JSON.members([
        "operationType": .string(operation(for: save, request.policy)),
        "record": notation.json(save),
      ])
    }
    let deletions = request.delete.map { id in
      var record = notation.json(id).members ?? JSON.Members()
      record.add("recordChangeTag", request.deleteTags[id].map { .string($0.rawValue) })
      return JSON.members([
        "operationType": .string(request.deleteTags[id] == nil ? "forceDelete" : "delete"),
        "record": .object(record),
      ])
    }
    let zone = request.save.first?.id.zone ?? request.delete.first?.zone
    let body = JSON.members([
      "operations": .array(saves + deletions), "zoneID": zone.map { notation.json($0) },
      "atomic": .bool(request.isAtomic), "desiredKeys": Notation.json(request.fields),
    ])
    let ids = (request.save.map(\.id), request.delete)
    return Errand(.recordsModify, of: notation.database, body: body) { answer throws(CloudError) in
      let items = try answer.list("records")
      let count = ids.0.count
      guard items.count == count + ids.1.count else {
        throw .malformed("\(items.count) items came where \(count + ids.1.count) were asked for")
      }
      return .recordsModified(
        saved: try results(
          Array(items[..<count]), of: ids.0, notation
        ) { item, id throws(CloudError) in
          let record = try notation.record(item, in: id.zone)
          return ItemResult(id: record.id, .success(record))
        },
        deleted: try results(
          Array(items[count...]), of: ids.1, notation
        ) { item, id throws(CloudError) in
          ItemResult(id: try notation.recordID(item, in: id.zone), .success(Done()))
        })
    }
  }

  private static func operation(for save: RecordSave, _ policy: SavePolicy) -> String {
    let isReplaced = save.clearsOtherFields
    switch save.policy ?? policy {
    case .ifServerRecordUnchanged:
      if save.changeTag == nil { return "create" }
      return isReplaced ? "replace" : "update"
    case .changedKeys, .allKeys: return isReplaced ? "forceReplace" : "forceUpdate"
    }
  }

  static func queryRecords(_ request: QueryRecords, _ notation: Notation) -> Errand {
    let zone = request.zone
    let body = JSON.members([
      "query": notation.json(request.query, zone: zone ?? .default),
      "zoneID": zone.map { notation.json($0) }, "zoneWide": zone == nil ? .bool(true) : nil,
      "resultsLimit": request.limit.map { .integer($0) },
      "continuationMarker": request.cursor.map { .string(Notation.base64($0.bytes)) },
      "desiredKeys": Notation.json(request.fields),
    ])
    return Errand(.recordsQuery, of: notation.database, body: body) { answer throws(CloudError) in
      var records: [Record] = []
      for item in try answer.list("records") {
        records.append(try notation.record(item, in: zone ?? .default))
      }
      let cursor = try notation.token(answer, "continuationMarker")
      return .queried(
        QueryPage(records: records, cursor: cursor.map { QueryCursor(bytes: $0.bytes) }))
    }
  }
}
