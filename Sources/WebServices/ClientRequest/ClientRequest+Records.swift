import CloudProtocol
import Records

extension ClientRequest {
  static func fetchRecords(_ request: FetchRecords, _ notation: Notation) -> ClientRequest {
    let ids = request.ids
    let body = JSON.members([
      "zoneID": ids.first.map { notation.json($0.zone) },
      "records": .array(ids.map { notation.json($0) }),
      "desiredKeys": Notation.json(request.fields),
    ])
    return ClientRequest(
      .recordsLookup, of: notation.database, body: body,
      outcome: { answer throws(CloudError) in
        .success(
          .records(
            try results(try answer.list("records"), of: ids, notation) {
              item, id throws(CloudError) in
              notation.result(try notation.record(item, in: id.zone), askedAs: id)
            }))
      },
      quickly: { text in RecordReader.read(text, notation) { $0.records(ids) } })
  }

  static func modifyRecords(_ request: ModifyRecords, _ notation: Notation) -> ClientRequest {
    ClientRequest(
      .recordsModify, of: notation.database, body: body(request, notation),
      text: { text(request, notation) },
      outcome: { answer throws(CloudError) in
        let items = try answer.list("records")
        let count = request.save.count
        guard items.count == count + request.delete.count else {
          throw .malformed(
            "\(items.count) items were received, not \(count + request.delete.count)"
          )
        }
        return .success(
          .recordsModified(
            saved: try results(
              Array(items[..<count]), of: request.save.map(\.id), notation
            ) { item, id throws(CloudError) in
              notation.result(try notation.record(item, in: id.zone), askedAs: id)
            },
            deleted: try results(
              Array(items[count...]), of: request.delete, notation
            ) { item, id throws(CloudError) in
              let name = try notation.recordID(item, in: id.zone)
              return ItemResult(
                id: RecordID(name: name.name, zone: notation.named(name.zone, askedAs: id.zone)),
                .success(Done()))
            }))
      },
      quickly: { text in
        RecordReader.read(text, notation) { $0.recordsModified(by: request) }
      })
  }

  private static func body(_ request: ModifyRecords, _ notation: Notation) -> JSON {
    let saves = request.save.map { save in
      JSON.members([
        "operationType": .string(operation(for: save, request.policy)),
        "record": notation.json(save),
      ])
    }
    let deletions = request.delete.map { id in
      JSON.members([
        "operationType": .string(request.deleteTags[id] == nil ? "forceDelete" : "delete"),
        "record": record(id, tag: request.deleteTags[id], notation),
      ])
    }
    let zone = request.save.first?.id.zone ?? request.delete.first?.zone
    return .members([
      "operations": .array(saves + deletions), "zoneID": zone.map { notation.json($0) },
      "atomic": .bool(isAtomic(request, notation)), "desiredKeys": Notation.json(request.fields),
    ])
  }

  /// Whether the request is sent as an atomic one: CloudKit Web Services refuses that for the
  /// default zone, where CloudKit's own API ignores the setting.
  ///
  /// Rule: WS-194.
  private static func isAtomic(_ request: ModifyRecords, _ notation: Notation) -> Bool {
    request.isAtomic && (notation.isExact || !request.concernsDefaultZone)
  }

  /// Encodes the same body directly as text.
  private static func text(_ request: ModifyRecords, _ notation: Notation) -> [UInt8] {
    var writer = RecordWriter(
      notation, capacity: 1_024 + 512 * request.save.count + 256 * request.delete.count)
    writer.write(raw: #"{"operations":["#)
    writer.write(list: request.save) { writer, save in
      writer.write(raw: #"{"operationType":"#)
      writer.write(operation(for: save, request.policy))
      writer.write(raw: #","record":"#)
      writer.write(save)
      writer.write(raw: "}")
    }
    if !request.save.isEmpty, !request.delete.isEmpty { writer.write(raw: ",") }
    writer.write(list: request.delete) { writer, id in
      let tag = request.deleteTags[id]
      writer.write(raw: #"{"operationType":"#)
      writer.write(tag == nil ? "forceDelete" : "delete")
      writer.write(raw: #","record":"#)
      writer.write(record(id, tag: tag, notation))
      writer.write(raw: "}")
    }
    writer.write(raw: "]")
    if let zone = request.save.first?.id.zone ?? request.delete.first?.zone {
      writer.write(raw: #","zoneID":"#)
      writer.write(zone)
    }
    writer.write(raw: #","atomic":"#)
    writer.write(.bool(isAtomic(request, notation)))
    writer.write(member: #","desiredKeys":"#, Notation.json(request.fields))
    writer.write(raw: "}")
    return writer.bytes
  }

  private static func record(_ id: RecordID, tag: ChangeTag?, _ notation: Notation) -> JSON {
    var record = notation.json(id).members ?? JSON.Members()
    record.add("recordChangeTag", tag.map { .string($0.rawValue) })
    return .object(record)
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

  static func queryRecords(_ request: QueryRecords, _ notation: Notation) -> ClientRequest {
    let zone = request.zone
    let body = JSON.members([
      "query": notation.json(request.query, zone: zone ?? .default),
      "zoneID": zone.map { notation.json($0) }, "zoneWide": zone == nil ? .bool(true) : nil,
      "resultsLimit": request.limit.map { .integer($0) },
      "continuationMarker": request.cursor.map { .string(Notation.base64($0.bytes)) },
      "desiredKeys": Notation.json(request.fields),
    ])
    return ClientRequest(
      .recordsQuery, of: notation.database, body: body,
      outcome: { answer throws(CloudError) in
        var records: [Record] = []
        for item in try answer.list("records") {
          records.append(try notation.record(item, in: zone ?? .default))
        }
        let cursor = try notation.token(answer, "continuationMarker")
        return .success(
          .queried(
            QueryPage(records: records, cursor: cursor.map { QueryCursor(bytes: $0.bytes) })))
      },
      quickly: { text in
        RecordReader.read(text, notation) { $0.queryPage(in: zone ?? .default) }
      })
  }
}
