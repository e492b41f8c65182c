import CloudProtocol
import Records

/// Change feeds. Rules: WS-54 to WS-65.
extension ServerRequest {
  static func databaseChanges(
    _ body: JSON, _ notation: Notation, tokenName: String
  ) throws(CloudError) -> ServerRequest {
    let request = FetchDatabaseChanges(
      since: try token(in: body, tokenName), limit: try body.count("resultsLimit"))
    let next = describing(notation) { reply in
      guard case .databaseChanges(let page) = reply else { return [] }
      return page.modified
    }
    return ServerRequest([.fetchDatabaseChanges(request)], next: next) {
      outcomes throws(CloudError) in
      guard case .databaseChanges(let page) = try only(outcomes).get() else {
        throw mismatchedReply
      }
      let zones = describedZones(outcomes)
      let modified = page.modified.map { id in
        zones[id].map(notation.json) ?? .members(["zoneID": notation.json(id)])
      }
      let deleted = page.deleted.map { deletion in
        JSON.members([
          "zoneID": notation.json(deletion.zone), "deleted": .bool(true),
          Notation.extra: notation.exact { $0.write(deletion.reason.rawValue) },
        ])
      }
      return .members([
        "zones": .array(modified + deleted),
        tokenName: .string(Notation.base64(page.token.bytes)),
        "moreComing": .bool(page.moreComing),
      ])
    }
  }

  /// The maximum number of zones in one response, each with a separate page of changes.
  ///
  /// The same as the maximum number of operations in a request. Rules: WS-87 and WS-88.
  private static let zoneLimit = 200

  static func zoneChanges(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest {
    try refuseReverse(body)
    var requests: [FetchZoneChanges] = []
    var types: [Set<String>?] = []
    var notations: [Notation] = []
    let common = body.only(["syncToken", "resultsLimit", "reverse"])
    let zones = try body.list("zones")
    guard zones.count <= zoneLimit else {
      throw CloudError(
        .limitExceeded,
        "the request asks for \(zones.count) zones, more than the \(zoneLimit) that one "
          + "request may ask for; send it in parts")
    }
    // The lists of the whole request are read once, however many zones share them.
    let commonFields = try notation.fieldSelection(body) ?? .all
    let commonTypes = try desiredTypes(body, notation)
    for value in zones {
      let settings = value.over(common)
      try refuseReverse(settings)
      requests.append(
        FetchZoneChanges(
          zone: try notation.zone(try value.object("zoneID")),
          since: try token(in: settings, "syncToken"), limit: try settings.count("resultsLimit"),
          fields: try notation.fieldSelection(value, over: commonFields)))
      types.append(
        value.has("desiredRecordTypes") ? try desiredTypes(value, notation) : commonTypes)
      var own = notation
      let isText = [try value.flag("numberAsStrings"), try value.flag("numbersAsStrings")]
      own.numbersAsStrings = isText.compactMap { $0 }.first ?? notation.numbersAsStrings
      notations.append(own)
    }
    let asked = requests
    let ways = notations
    let wanted = types
    return ServerRequest(
      asked.map { .fetchZoneChanges($0) },
      answer: { outcomes throws(CloudError) in
        var zones: [JSON] = []
        for (index, outcome) in outcomes.enumerated() {
          switch outcome {
          case .failure(let error):
            var members = JSON.Members()
            members.add("zoneID", notation.json(asked[index].zone))
            zones.append(notation.json(error, of: members))
          case .success(.zoneChanges(let page)):
            zones.append(.object(members(page, ways[index], types: wanted[index])))
          case .success: throw mismatchedReply
          }
        }
        return .members(["zones": .array(zones)])
      },
      text: { outcomes throws(CloudError) in
        var bytes: [UInt8] = []
        JSON.write(raw: #"{"zones":["#, to: &bytes)
        for (index, outcome) in outcomes.enumerated() {
          if index > 0 { bytes.append(UInt8(ascii: ",")) }
          switch outcome {
          case .failure(let error):
            var members = JSON.Members()
            members.add("zoneID", notation.json(asked[index].zone))
            notation.json(error, of: members).write(to: &bytes)
          case .success(.zoneChanges(let page)):
            bytes.append(contentsOf: text(page, ways[index], types: wanted[index]))
          case .success: throw mismatchedReply
          }
        }
        JSON.write(raw: "]}", to: &bytes)
        return bytes
      })
  }

  /// The types of the records in a response; `nil` for all.
  private static func desiredTypes(
    _ json: JSON, _ notation: Notation
  ) throws(CloudError) -> Set<String>? {
    guard let names = try notation.names(in: json, "desiredRecordTypes") else { return nil }
    return Set(names)
  }

  /// Encodes a page, with the same content as `members`, as text.
  private static func text(
    _ page: ZoneChangesPage, _ notation: Notation, types: Set<String>?
  ) -> [UInt8] {
    var writer = RecordWriter(
      notation, capacity: 1_024 + 768 * page.modified.count + 256 * page.deleted.count)
    writer.write(raw: #"{"zoneID":"#)
    writer.write(page.zone)
    writer.write(raw: #","syncToken":"#)
    writer.write(Notation.base64(page.token.bytes))
    writer.write(raw: #","moreComing":"#)
    writer.write(.bool(page.moreComing))
    writer.write(raw: #","records":["#)
    let modified =
      types.map { types in page.modified.filter { types.contains($0.type) } }
      ?? page.modified
    writer.write(list: modified) { $0.write($1) }
    if !modified.isEmpty, !page.deleted.isEmpty { writer.write(raw: ",") }
    writer.write(list: page.deleted) { $0.write($1) }
    writer.write(raw: "]}")
    return writer.bytes
  }

  static func recordsChanges(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest
  {
    try refuseReverse(body)
    let request = FetchZoneChanges(
      zone: try notation.zone(try body.object("zoneID")), since: try token(in: body, "syncToken"),
      limit: try body.count("resultsLimit"), fields: try notation.fieldSelection(body) ?? .all)
    return ServerRequest(.fetchZoneChanges(request)) { reply throws(CloudError) in
      guard case .zoneChanges(let page) = reply else { throw mismatchedReply }
      return .object(members(page, notation, types: nil))
    }
  }

  private static func members(
    _ page: ZoneChangesPage, _ notation: Notation, types: Set<String>?
  ) -> JSON.Members {
    var members = JSON.Members()
    members.add("zoneID", notation.json(page.zone))
    members.add("syncToken", .string(Notation.base64(page.token.bytes)))
    members.add("moreComing", .bool(page.moreComing))
    let modified = page.modified.filter { types?.contains($0.type) ?? true }
    members.add(
      "records",
      .array(modified.map { notation.json($0) } + page.deleted.map { notation.json($0) }))
    return members
  }

  /// Decodes a token; text that is not base64 is rejected as an invalid token.
  private static func token(in json: JSON, _ name: String) throws(CloudError) -> ChangeToken? {
    try json.optionalText(name).map {
      ChangeToken(bytes: Notation.bytes(base64: $0) ?? Array($0.utf8))
    }
  }

  private static func refuseReverse(_ json: JSON) throws(CloudError) {
    if try json.flag("reverse") == true {
      throw .malformed("changes in reverse order are not supported; leave out 'reverse'")
    }
  }
}
