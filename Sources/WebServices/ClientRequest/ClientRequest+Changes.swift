import CloudProtocol
import Records

extension ClientRequest {
  static func fetchDatabaseChanges(
    _ request: FetchDatabaseChanges, _ notation: Notation
  ) -> ClientRequest {
    let body = JSON.members([
      "syncToken": request.since.map { .string(Notation.base64($0.bytes)) },
      "resultsLimit": request.limit.map { .integer($0) },
    ])
    return ClientRequest(.changesDatabase, of: notation.database, body: body) {
      answer throws(CloudError) in
      guard let token = try notation.token(answer, "syncToken") else {
        throw .malformed("there is no 'syncToken'")
      }
      var page = DatabaseChangesPage(
        modified: [], deleted: [], token: token, moreComing: try answer.flag("moreComing") ?? false)
      for item in try answer.list("zones") {
        let zone = try notation.zone(in: item)
        guard try item.flag("deleted") == true else {
          page.modified.append(zone)
          continue
        }
        let reason = try notation.exact(in: item) { (reader) throws(ByteFormatError) in
          try reader.byte()
        }
        page.deleted.append(
          ZoneDeletion(
            zone: zone,
            reason: reason.flatMap { ZoneDeletionReason(rawValue: $0) } ?? .deleted))
      }
      return .databaseChanges(page)
    }
  }

  static func fetchZoneChanges(_ request: FetchZoneChanges, _ notation: Notation) -> ClientRequest {
    let asked = request.zone
    let body = JSON.members([
      "zones": .array([
        .members([
          "zoneID": notation.json(asked),
          "syncToken": request.since.map { .string(Notation.base64($0.bytes)) },
          "resultsLimit": request.limit.map { .integer($0) },
          "desiredKeys": Notation.json(request.fields),
        ])
      ])
    ])
    return ClientRequest(
      .changesZone, of: notation.database, body: body,
      outcome: { answer throws(CloudError) in
        guard let item = try answer.list("zones").first else {
          throw .malformed("it does not contain the requested zone")
        }
        if let error = try notation.error(item) { return .failure(error) }
        guard let token = try notation.token(item, "syncToken") else {
          throw .malformed("there is no 'syncToken'")
        }
        let zone = notation.named(try notation.zone(in: item, or: asked), askedAs: asked)
        var page = ZoneChangesPage(
          zone: zone, modified: [], deleted: [], token: token,
          moreComing: try item.flag("moreComing") ?? false)
        for record in try item.list("records") {
          if try record.flag("deleted") == true {
            page.deleted.append(try notation.deletion(record, in: zone))
          } else {
            page.modified.append(try notation.record(record, in: zone))
          }
        }
        return .success(.zoneChanges(page))
      },
      quickly: { text in
        RecordReader.read(text, notation) { $0.zoneChanges(of: asked) }
      })
  }
}
