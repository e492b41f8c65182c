import CloudProtocol
import Records

/// Records by name and by query, and changes to them. Rules: WS-32 to WS-44 and WS-45 to WS-53.
extension ServerRequest {
  /// The operations of `records/modify`.
  struct Operations: Sendable {
    /// The index of an operation among the saves or the deletions.
    enum OperationIndex: Sendable {
      case save(Int)
      case delete(Int)
      /// An operation that is malformed, with its error.
      case refused(JSON)
    }

    /// The request.
    var request = ModifyRecords()
    /// The operations, in their order.
    var operationIndexes: [OperationIndex] = []
    /// The zone of all operations.
    var zone = ZoneID.default
    /// The share URL of each record, by its index among the saves.
    var shareURLs: [Int: String] = [:]
    /// The saves of roots, by the saves of the shares that they were added for.
    var roots: [Int: Int] = [:]
    /// The fields in the response to each save; empty if the request's are for all.
    var selections: [FieldSelection] = []

    /// Adds a save with an operation of `type`.
    /// - Throws: `invalidArguments` if `type` is not a saving operation, or the save lacks a
    ///   required tag.
    mutating func add(_ save: RecordSave, _ type: String) throws(CloudError) {
      let save = try ServerRequest.save(save, type)
      operationIndexes.append(.save(request.save.count))
      request.save.append(save)
    }

    /// Decodes and adds an operation of `type`, or throws and adds nothing; `tags` gets the change
    /// tags of roots.
    mutating func add(
      _ value: JSON, _ type: String, _ notation: Notation, _ tags: inout [RecordID: ChangeTag],
      _ newName: () -> String
    ) throws(CloudError) {
      let record = try value.object("record")
      if type == "delete" || type == "forceDelete" {
        let id = try notation.recordID(record, in: zone)
        let tag = try record.optionalText("recordChangeTag")
        guard tag != nil || type == "forceDelete" else {
          throw .malformed(
            "the operation delete needs the record's 'recordChangeTag'; forceDelete needs none")
        }
        return add(id, tag: type == "delete" ? tag.map { ChangeTag($0) } : nil)
      }
      var save = try notation.save(record, in: zone, newName: newName)
      let selection = try notation.fieldSelection(value, over: request.fields)
      if save.type == ShareDetails.recordType, type != "create" {
        // Without either the share stays as it is; its root may be named all the same.
        let changesAccess = try ServerRequest.changesAccess(record)
        if !changesAccess, save.changeTag != nil { save.sharing = nil }
      }
      let isNamed = try record.flag("createShortGUID") == true
      let url = isNamed ? try notation.urlOfShare(save.id) : nil
      let tag = try record["forRecord"]?.optionalText("recordChangeTag")
      try add(save, type)
      selections.append(selection)
      if let root = save.sharing?.root, let tag { tags[root] = ChangeTag(tag) }
      if let url { shareURLs[request.save.count - 1] = url }
    }

    /// Makes one selection of fields of the saves' selections, or has the fields of the response
    /// selected later.
    mutating func joinSelections() {
      guard let first = selections.first else { return }
      let isUniform = selections.allSatisfy { $0 == first }
      request.fields = isUniform ? first : .all
      if isUniform { selections = [] }
    }

    /// Adds a save of the root for each new share whose root is not among the saves, so that a
    /// record that was saved earlier can be shared; `tags` has the change tags given by the client.
    mutating func addRoots(_ tags: [RecordID: ChangeTag]) {
      var saved = Set(request.save.map(\.id))
      for index in request.save.indices where request.save[index].changeTag == nil {
        guard let root = request.save[index].sharing?.root, saved.insert(root).inserted else {
          continue
        }
        var save = RecordSave(id: root, type: "", changeTag: tags[root], changes: [])
        save.policy = save.changeTag == nil ? .changedKeys : .ifServerRecordUnchanged
        roots[index] = request.save.count
        request.save.append(save)
      }
    }

    /// Whether CloudKit Web Services refuses the operations as one change; for a client of this
    /// package, which has CloudKit's own API, they are separate.
    ///
    /// Rule: WS-194.
    func areRefusedAsAtomic(_ notation: Notation) -> Bool {
      !notation.isExact && request.concernsDefaultZone
    }

    /// Adds a deletion, restricted to the version `tag` if it is given.
    mutating func add(_ id: RecordID, tag: ChangeTag?) {
      if let tag { request.deleteTags[id] = tag }
      operationIndexes.append(.delete(request.delete.count))
      request.delete.append(id)
    }
  }

  static func recordsModify(
    _ body: JSON, _ notation: Notation, wantsToken: Bool, _ newName: () -> String
  ) throws(CloudError) -> ServerRequest {
    var operations = Operations()
    operations.zone = try notation.zone(in: body)
    operations.request.isAtomic = try body.flag("atomic") ?? true
    operations.request.fields = try notation.fieldSelection(body) ?? .all
    var tags: [RecordID: ChangeTag] = [:]
    for value in try notation.items(body, "operations") {
      let record = try value.object("record")
      let type = try value.text("operationType")
      do throws(CloudError) {
        try operations.add(value, type, notation, &tags, newName)
      } catch {
        let name = record["recordName"]?.string
        guard !operations.request.isAtomic else {
          throw name.map { .malformed(error.message, ofRecord: $0) } ?? error
        }
        var members = JSON.Members()
        members.add("recordName", name.map { .string($0) })
        operations.operationIndexes.append(.refused(notation.json(error, of: members)))
      }
    }
    if try body.flag("atomic") == true, operations.areRefusedAsAtomic(notation) {
      throw .malformed("atomic operations are not supported in the default zone; omit 'atomic'")
    }
    operations.joinSelections()
    // Apps save a share together with its root, as CloudKit requires.
    if !notation.isExact { operations.addRoots(tags) }
    return recordsModify(operations, notation, wantsToken: wantsToken)
  }

  /// Whether a change to a share has access settings; one with only a part of them is rejected,
  /// because the other part would be lost.
  private static func changesAccess(_ record: JSON) throws(CloudError) -> Bool {
    let changes = record["publicPermission"] != nil
    guard changes == (record["participants"] != nil) else {
      throw .malformed(
        "a change to a share needs both 'publicPermission' and 'participants', or neither: they "
          + "replace what is stored")
    }
    return changes
  }

  /// The share information in the responses to saves.
  private struct SharedSaves: Sendable {
    /// The saves of roots, by the saves of the shares that they were added for.
    var roots: [Int: Int]
    /// The short names of the shares that records have or will have.
    var names: [Int: String]

    /// The result of a save: a share fails if its root could not be saved.
    func result(
      _ index: Int, _ saved: [ItemResult<RecordID, Record>]
    ) -> ItemResult<RecordID, Record> {
      guard let root = roots[index], saved[index].error != nil, saved.indices.contains(root),
        var error = saved[root].error, error.code != .batchRequestFailed
      else { return saved[index] }
      // Apart from its tag, the save of a root can only fail because the record does not exist.
      if error.code == .invalidArguments {
        error = CloudError(.unknownItem, "there is no such record to share")
      }
      return ItemResult(id: saved[index].id, .failure(error))
    }

    /// Encodes a record with the member `shortGUID`; `nil` for every other save.
    func json(
      _ index: Int, _ saved: [ItemResult<RecordID, Record>], _ notation: Notation
    ) -> JSON? {
      guard let name = names[index], let record = saved[index].value,
        var members = notation.json(record).members
      else { return nil }
      members.add("shortGUID", .string(name))
      return .object(members)
    }
  }

  static func recordsModify(
    _ operations: Operations, _ notation: Notation, wantsToken: Bool
  ) -> ServerRequest {
    let request = operations.request
    let zone = request.save.first?.id.zone ?? request.delete.first?.zone ?? operations.zone
    let counts = (request.save.count, request.delete.count)
    let rootCount = operations.roots.count
    let selections = operations.selections
    @Sendable func results(
      _ outcomes: [Outcome]
    ) throws(CloudError) -> ([ItemResult<RecordID, Record>], [ItemResult<RecordID, Done>]) {
      guard case .recordsModified(let saved, let deleted) = try only(outcomes).get(),
        saved.count == counts.0 || saved.count == counts.0 - rootCount,
        deleted.count == counts.1
      else { throw mismatchedReply }
      return (selected(saved, selections), deleted)
    }
    let operationIndexes = operations.operationIndexes
    let shares = SharedSaves(
      roots: operations.roots, names: operations.shareURLs.mapValues(Notation.shortName))
    return ServerRequest(
      [.modifyRecords(request)] + (wantsToken ? [.fetchZones([zone])] : []),
      answer: { outcomes throws(CloudError) in
        let (saved, deleted) = try results(outcomes)
        let records = operationIndexes.map { place in
          switch place {
          case .save(let index):
            shares.json(index, saved, notation)
              ?? json(shares.result(index, saved), notation)
          case .delete(let index): json(deleted[index], notation)
          case .refused(let error): error
          }
        }
        return .members(["records": .array(records), "syncToken": token(outcomes)])
      },
      text: { outcomes throws(CloudError) in
        let (saved, deleted) = try results(outcomes)
        var writer = RecordWriter(notation, capacity: 1_024 + 768 * counts.0 + 256 * counts.1)
        writer.write(raw: #"{"records":["#)
        writer.write(list: operationIndexes) { writer, place in
          switch place {
          case .save(let index):
            if let json = shares.json(index, saved, notation) {
              writer.write(json)
            } else {
              writer.write(shares.result(index, saved))
            }
          case .delete(let index): writer.write(json(deleted[index], notation))
          case .refused(let error): writer.write(error)
          }
        }
        writer.write(raw: "]")
        writer.write(member: #","syncToken":"#, token(outcomes))
        writer.write(raw: "}")
        return writer.bytes
      })
  }

  private static func json(_ result: ItemResult<RecordID, Done>, _ notation: Notation) -> JSON {
    result.error.map { notation.json($0, of: name(result.id, notation)) }
      ?? .members([
        "recordName": .string(result.id.name), "deleted": .bool(true),
        "zoneID": notation.json(result.id.zone),
      ])
  }

  /// Applies an operation of `type` to a save.
  private static func save(_ save: RecordSave, _ type: String) throws(CloudError) -> RecordSave {
    var save = save
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
    default:
      throw .unknown(
        type, "'operationType'",
        [
          "create", "update", "forceUpdate", "replace", "forceReplace", "delete", "forceDelete",
        ])
    }
    return save
  }

  /// The results with only the selected fields of each record; there may be more results than
  /// selections.
  private static func selected(
    _ results: [ItemResult<RecordID, Record>], _ selections: [FieldSelection]
  ) -> [ItemResult<RecordID, Record>] {
    var results = results
    for (index, selection) in zip(results.indices, selections) {
      guard var record = results[index].value else { continue }
      record.fields = selection.applied(to: record.fields)
      results[index] = ItemResult(id: results[index].id, .success(record))
    }
    return results
  }

  static func recordsLookup(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest
  {
    let zone = try notation.zone(in: body)
    var ids: [RecordID] = []
    var own: [FieldSelection] = []
    // Read once, however many records share it.
    let common = try notation.fieldSelection(body) ?? .all
    for value in try notation.items(body, "records") {
      ids.append(try notation.recordID(value, in: zone))
      own.append(try notation.fieldSelection(value, over: common))
    }
    let isUniform = own.allSatisfy { $0 == own.first }
    let selections = own
    let request = FetchRecords(ids: ids, fields: isUniform ? own.first ?? .all : .all)
    @Sendable func selected(
      _ reply: CloudReply
    ) throws(CloudError) -> [ItemResult<RecordID, Record>] {
      guard case .records(let results) = reply, results.count == selections.count else {
        throw mismatchedReply
      }
      return isUniform ? results : ServerRequest.selected(results, selections)
    }
    return ServerRequest(
      .fetchRecords(request),
      answer: { reply throws(CloudError) in
        .members(["records": .array(try selected(reply).map { json($0, notation) })])
      },
      text: { reply throws(CloudError) in
        let results = try selected(reply)
        var writer = RecordWriter(notation, capacity: 256 + 768 * results.count)
        writer.write(raw: #"{"records":["#)
        writer.write(list: results) { $0.write($1) }
        writer.write(raw: "]}")
        return writer.bytes
      })
  }

  static func recordsQuery(
    _ body: JSON, _ notation: Notation, wantsToken: Bool
  ) throws(CloudError) -> ServerRequest {
    let named = try body["zoneID"].map { (value) throws(CloudError) in try notation.zone(value) }
    let isWide = try body.flag("zoneWide") ?? false
    let zone = named ?? (isWide ? nil : .default)
    let limit = try body.count("resultsLimit") ?? (notation.isExact ? nil : 200)
    let cursor = try body.optionalText("continuationMarker").map { (text) throws(CloudError) in
      guard let bytes = Notation.bytes(base64: text) else {
        throw .malformed("the 'continuationMarker' was not issued by this server")
      }
      return QueryCursor(bytes: bytes)
    }
    let request = QueryRecords(
      query: try notation.query(try body.object("query"), zone: zone ?? .default), zone: zone,
      cursor: cursor, limit: limit, fields: try notation.fieldSelection(body) ?? .all)
    @Sendable func page(_ outcomes: [Outcome]) throws(CloudError) -> (QueryPage, marker: JSON?) {
      guard case .queried(let page) = try outcomes.last?.get() else { throw mismatchedReply }
      return (page, page.cursor.map { .string(Notation.base64($0.bytes)) })
    }
    return ServerRequest(
      // The token first: it must not cover a change that the query did not see.
      (wantsToken ? [.fetchZones([zone ?? .default])] : []) + [.queryRecords(request)],
      answer: { outcomes throws(CloudError) in
        let (page, marker) = try page(outcomes)
        return .members([
          "records": .array(page.records.map { notation.json($0) }),
          "continuationMarker": marker, "syncToken": token(outcomes),
        ])
      },
      text: { outcomes throws(CloudError) in
        let (page, marker) = try page(outcomes)
        var writer = RecordWriter(notation, capacity: 1_024 + 768 * page.records.count)
        writer.write(raw: #"{"records":["#)
        writer.write(list: page.records) { $0.write($1) }
        writer.write(raw: "]")
        writer.write(member: #","continuationMarker":"#, marker)
        writer.write(member: #","syncToken":"#, token(outcomes))
        writer.write(raw: "}")
        return writer.bytes
      })
  }

  /// Encodes a record of a response, or its error.
  static func json(_ result: ItemResult<RecordID, Record>, _ notation: Notation) -> JSON {
    switch result.outcome {
    case .success(let record): return notation.json(record)
    case .failure(let error): return notation.json(error, of: name(result.id, notation))
    }
  }

  /// The members that identify a record in an error.
  private static func name(_ id: RecordID, _ notation: Notation) -> JSON.Members {
    var members = JSON.Members()
    members.add("recordName", .string(id.name))
    if notation.isExact { members.add("zoneID", notation.json(id.zone)) }
    return members
  }

  /// The zone's current token, if one of the outcomes has it.
  private static func token(_ outcomes: [Outcome]) -> JSON? {
    for case .success(.zones(let zones)) in outcomes {
      return zones.first?.value?.token.map { .string(Notation.base64($0.bytes)) }
    }
    return nil
  }
}
