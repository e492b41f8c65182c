import CloudProtocol
import Records

extension CloudMachine {
  /// The requested records, each with a separate outcome.
  ///
  /// A missing zone takes precedence over a missing record; scenarios `fetchRecordInUnknownZone`
  /// and `fetchUnknownRecord`.
  func fetchRecords(_ request: FetchRecords, _ context: RequestContext) throws -> CloudReply {
    try refuse(itemCount: request.ids.count)
    let fields = try selected(request.fields)
    var bytes = 0
    var zones: [ZoneID: Result<ZoneAccess, any Error>] = [:]
    return .records(
      try request.ids.map { id in
        try ItemResult(id) {
          let zone = zones[id.zone] ?? Result { try context.access(to: id.zone) }
          zones[id.zone] = zone
          let access = try zone.get()
          try refuse(replyBytes: bytes)
          guard var record = try access.record(access.inward(id)) else {
            throw Refusal(.unknownItem, "there is no such record")
          }
          bytes += record.byteCount
          record.fields = fields.applied(to: record.fields)
          return access.outward(record)
        }
      })
  }

  /// Saves and deletes records; the part of the request in each zone is a separate batch.
  func modifyRecords(
    _ request: ModifyRecords, _ context: RequestContext
  ) throws -> (CloudReply, WriteTransaction) {
    try refuseAsAWhole(request)
    let fields = try selected(request.fields)
    var conflictBytes = 0
    var parts = ZonePart.parts(of: request)
    for index in parts.indices { try parts[index].findPositions(in: request) }
    var transaction = WriteTransaction()
    var saved: [ItemResult<RecordID, Record>?] = Array(repeating: nil, count: request.save.count)
    var deleted: [ItemResult<RecordID, Done>?] = Array(repeating: nil, count: request.delete.count)
    let wantsAll = request.fields == .all
    for part in parts {
      var outcome: RecordBatch.Outcome
      do {
        let access = try context.access(to: part.zone)
        let home = try transaction.open(access.home, context)
        var batch = try RecordBatch(
          saves: part.saves.map { access.inward(request.save[$0]) },
          deletes: part.deletes.map { access.inward(request.delete[$0]) },
          deleteTags: request.deleteTags.isEmpty ? [:] : access.inward(request.deleteTags),
          positions: part.positions, policy: request.policy,
          isAtomic: request.isAtomic && access.zone.id != .default,
          access: access, spent: transaction[home].database.byteCount,
          knownTypes: transaction.types)
        outcome = access.outward(try batch.apply(to: &transaction))
      } catch let refusal as Refusal {
        outcome = RecordBatch.Outcome(part, failingWith: refusal.error)
      }
      for (index, result) in zip(part.saves, outcome.saved) {
        saved[index] = ItemResult(
          id: request.save[index].id,
          (wantsAll ? result : result.selecting(fields))
            .bounded(&conflictBytes, limits.replyBytes))
      }
      for (index, result) in zip(part.deletes, outcome.deleted) {
        deleted[index] = ItemResult(
          id: request.delete[index], result.bounded(&conflictBytes, limits.replyBytes))
      }
    }
    let reply = CloudReply.recordsModified(
      saved: saved.compactMap { $0 }, deleted: deleted.compactMap { $0 })
    return (reply, transaction)
  }

  /// Prepares the selection of a request; refuses one with more names than a request may have.
  func selected(_ fields: FieldSelection) throws -> SelectedFields {
    if case .keys(let keys) = fields, keys.count > limits.desiredKeys {
      throw Refusal(
        .limitExceeded,
        "the request asks for \(keys.count) fields, more than the \(limits.desiredKeys) that one "
          + "request may ask for; ask for all")
    }
    return SelectedFields(fields)
  }

  /// Refuses an item of a reply that already holds `replyBytes`.
  func refuse(replyBytes: Int) throws {
    guard replyBytes < limits.replyBytes else {
      throw Refusal(
        .limitExceeded, "the items before it fill the response; ask for fewer in one request")
    }
  }

  /// Checks that fail the whole call before any item is processed.
  ///
  /// Rules: CS-125 to CS-139.
  private func refuseAsAWhole(_ request: ModifyRecords) throws {
    try refuse(itemCount: request.save.count + request.delete.count)
    var bytes = 0
    for index in request.save.indices { bytes += request.save[index].byteCount }
    for id in request.delete { bytes += id.name.utf8.count }
    guard bytes <= limits.requestBytes else {
      throw Refusal(
        .limitExceeded,
        "the request holds \(bytes) bytes, more than the \(limits.requestBytes) that one request "
          + "may hold; send it in parts")
    }
  }
}

/// The items of a request in one zone, by their positions in the request.
struct ZonePart {
  var zone: ZoneID
  var saves: [Int] = []
  var deletes: [Int] = []
  /// The positions of saved records in `saves`, by name.
  private(set) var positions: [String: Int] = [:]

  /// Finds the positions of saved records; throws if a record is named twice.
  mutating func findPositions(in request: ModifyRecords) throws {
    positions.reserveCapacity(saves.count)
    for (position, index) in saves.enumerated()
    where positions.updateValue(position, forKey: request.save[index].id.name) != nil {
      throw Refusal(.invalidArguments, "the same record can't be saved twice in one request")
    }
    var deleted: Set<String> = []
    for index in deletes {
      let name = request.delete[index].name
      guard positions[name] == nil, deleted.insert(name).inserted else {
        throw Refusal(
          .invalidArguments,
          "a record can't be deleted twice, or saved and deleted, in one request")
      }
    }
  }

  /// The parts of `request`, in the order in which it first names their zones.
  static func parts(of request: ModifyRecords) -> [ZonePart] {
    var parts: [ZonePart] = []
    var positions: [ZoneID: Int] = [:]
    var last: Int?
    func position(of zone: ZoneID) -> Int {
      if let last, parts[last].zone == zone { return last }
      if let position = positions[zone] {
        last = position
        return position
      }
      last = parts.count
      positions[zone] = parts.count
      parts.append(ZonePart(zone: zone))
      return parts.count - 1
    }
    for index in request.save.indices {
      parts[position(of: request.save[index].id.zone)].saves.append(index)
    }
    for (index, id) in request.delete.enumerated() {
      parts[position(of: id.zone)].deletes.append(index)
    }
    return parts
  }
}

extension ItemResult.Outcome where Value == Record {
  /// The outcome with only the desired fields; the server's record of a conflict stays complete,
  /// because the retry is based on it.
  fileprivate func selecting(_ fields: SelectedFields) -> ItemResult<ID, Record>.Outcome {
    guard case .success(var record) = self else { return self }
    record.fields = fields.applied(to: record.fields)
    return .success(record)
  }
}

extension ItemResult.Outcome {
  /// The outcome; a conflict after server records of `most` bytes, counted in `bytes`, is reported
  /// without one, as a change to send again.
  fileprivate func bounded(_ bytes: inout Int, _ most: Int) -> ItemResult<ID, Value>.Outcome {
    guard case .failure(let error) = self, let record = error.serverRecord else { return self }
    guard bytes < most else {
      return .failure(
        CloudError(
          .batchRequestFailed,
          "the server's records of other conflicts fill the response; send it again"))
    }
    bytes += record.byteCount
    return self
  }
}
