import CloudProtocol
import Records

/// Shares as others come to them, and people. Source: web-services 1.9.
extension Exchange {
  /// The short names of shares in a request, as URLs.
  private static func urls(_ body: JSON, _ notation: Notation) throws(CloudError) -> [String] {
    var urls: [String] = []
    for value in try body.list("shortGUIDs") {
      let url = try notation.exact(in: value) { (reader) throws(ByteFormatError) in
        try reader.string()
      }
      let name = try value.optionalText("value")
      guard let url = url ?? name.map({ notation.sharePrefix + $0 }) else {
        throw .malformed("a share needs a 'value'")
      }
      urls.append(url)
    }
    return urls
  }

  private static func failure(_ error: CloudError, _ url: String, _ notation: Notation) -> JSON {
    var members = JSON.Members()
    members.add(
      "shortGUID", .members(["value": .string(Notation.shortName(ofShare: url))]))
    return notation.json(error, of: members)
  }

  static func recordsResolve(
    _ body: JSON, _ notation: Notation, environment: CloudEnvironment
  ) throws(CloudError) -> Exchange {
    let urls = try urls(body, notation)
    var fields: FieldSelection?
    for value in try body.list("shortGUIDs")
    where try value.flag("shouldFetchRootRecord") == true {
      fields =
        try value.texts("rootRecordDesiredKeys").map { $0.isEmpty ? .none : .keys($0) } ?? .all
    }
    let request = ResolveShares(urls: urls, rootFields: fields)
    return Exchange(.resolveShares(request)) { reply throws(CloudError) in
      guard case .sharesResolved(let results) = reply else { throw misplaced }
      return .members([
        "results": .array(
          results.map { result in
            switch result.outcome {
            case .success(let metadata): notation.json(metadata, environment: environment)
            case .failure(let error): failure(error, result.id, notation)
            }
          })
      ])
    }
  }

  static func recordsAccept(
    _ body: JSON, _ notation: Notation, environment: CloudEnvironment
  ) throws(CloudError) -> Exchange {
    let urls = try urls(body, notation)
    return Exchange(.acceptShares(urls)) { reply throws(CloudError) in
      guard case .sharesAccepted(let results) = reply else { throw misplaced }
      return .members([
        "results": .array(
          results.map { result in
            switch result.outcome {
            case .success(let share): json(share, result.id, notation, environment)
            case .failure(let error): failure(error, result.id, notation)
            }
          })
      ])
    }
  }

  private static func json(
    _ share: Record, _ url: String, _ notation: Notation, _ environment: CloudEnvironment
  ) -> JSON {
    let isOwn = share.id.zone.owner == ZoneID.currentOwner
    var notation = notation
    notation.database = isOwn ? .private : .shared
    return .members([
      "shortGUID": .members(["value": .string(Notation.shortName(ofShare: url))]),
      "containerIdentifier": .string(notation.container),
      "environment": .string(environment.rawValue.uppercased()),
      "databaseScope": .string(isOwn ? "PRIVATE" : "SHARED"),
      "zoneID": notation.json(share.id.zone),
      "rootRecordName": share.sharing?.root.map { .string($0.name) },
      "share": notation.json(share), "participantStatus": .string("ACCEPTED"),
    ])
  }

  // MARK: People

  static func currentUser() -> Exchange {
    Exchange(.fetchCurrentUser) { reply throws(CloudError) in
      guard case .currentUser(let user) = reply else { throw misplaced }
      return .members(["userRecordName": .string(user.rawValue)])
    }
  }

  static func usersDiscover(_ body: JSON, _ notation: Notation) throws(CloudError) -> Exchange {
    // Everyone in the address book: a server has none.
    guard body["lookupInfos"] != nil else { return nobody }
    return try users(try body.list("lookupInfos"), notation)
  }

  static func usersLookup(_ body: JSON, _ notation: Notation) throws(CloudError) -> Exchange {
    try users(try body.list("users"), notation)
  }

  private static func users(_ infos: [JSON], _ notation: Notation) throws(CloudError) -> Exchange {
    var lookups: [UserLookup] = []
    for info in infos { lookups.append(try notation.lookup(info)) }
    return Exchange(.findUsers(lookups)) { reply throws(CloudError) in
      guard case .usersFound(let results) = reply else { throw misplaced }
      // People without an account are left out, so that what is left fits no question by its place.
      return .members([
        "users": .array(results.compactMap(\.value).map { notation.json($0) }),
        Notation.extra: notation.isExact
          ? .array(results.map { $0.error.map { notation.json($0) } ?? .null }) : nil,
      ])
    }
  }

  static var nobody: Exchange {
    Exchange([]) { _ throws(CloudError) in .members(["users": .array([])]) }
  }
}
