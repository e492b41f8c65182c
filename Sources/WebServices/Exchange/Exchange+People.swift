import CloudProtocol
import Records

/// Shares as others come to them, and people. Source: web-services 1.9.
extension Exchange {
  /// A share that a request names.
  private struct AskedShare: Sendable {
    /// The short name, as it was given.
    var name: String
    /// Where it is found; `nil` for an empty name.
    var url: String?
    /// What is wanted of its root record; `nil` for nothing.
    var fields: FieldSelection?
  }

  /// The shares that a request names.
  private static func shares(_ body: JSON, _ notation: Notation) throws(CloudError) -> [AskedShare]
  {
    var shares: [AskedShare] = []
    for value in try notation.items(body, "shortGUIDs") {
      let url = try notation.exact(in: value) { (reader) throws(ByteFormatError) in
        try reader.string()
      }
      let name = try value.optionalText("value")
      guard let name = name ?? url.map(Notation.shortName) else {
        throw .malformed("a share needs a 'value'")
      }
      var share = AskedShare(
        name: name, url: url ?? (name.isEmpty ? nil : notation.sharePrefix + name))
      if try value.flag("shouldFetchRootRecord") == true {
        let keys = try value.texts("rootRecordDesiredKeys")
        share.fields = keys.map { $0.isEmpty ? .none : .keys($0) } ?? .all
      }
      shares.append(share)
    }
    return shares
  }

  /// The answer about each of `shares`: what `json` makes of its result, or why there is none.
  private static func answer<Value>(
    _ shares: [AskedShare], _ results: [ItemResult<String, Value>], _ notation: Notation,
    _ json: (Value, AskedShare) -> JSON
  ) -> JSON {
    func failure(_ error: CloudError, _ name: String) -> JSON {
      var members = JSON.Members()
      members.add("shortGUID", .members(["value": .string(name)]))
      return notation.json(error, of: members)
    }
    var named = shares.filter { $0.url != nil }[...]
    var items = results.map { result in
      let share = named.popFirst() ?? AskedShare(name: Notation.shortName(ofShare: result.id))
      switch result.outcome {
      case .success(let value): return json(value, share)
      case .failure(let error): return failure(error, share.name)
      }
    }
    for (index, share) in shares.enumerated() where share.url == nil {
      let error = CloudError.malformed("the short GUID of a share can't be empty")
      items.insert(failure(error, share.name), at: min(index, items.count))
    }
    return .members(["results": .array(items)])
  }

  static func recordsResolve(
    _ body: JSON, _ notation: Notation, environment: CloudEnvironment
  ) throws(CloudError) -> Exchange {
    let shares = try shares(body, notation)
    // One request has one selection; where shares differ all is asked for and some left out.
    let isUniform = Set(shares.map(\.fields)).count < 2
    let wantsRoots = shares.contains { $0.fields != nil }
    let request = ResolveShares(
      urls: shares.compactMap(\.url),
      rootFields: isUniform ? shares.first?.fields : wantsRoots ? .all : nil)
    return Exchange(.resolveShares(request)) { reply throws(CloudError) in
      guard case .sharesResolved(let results) = reply else { throw misplaced }
      return answer(shares, results, notation) { metadata, share in
        var metadata = metadata
        if !isUniform, let fields = metadata.root?.fields {
          metadata.root?.fields = share.fields?.applied(to: fields) ?? Fields()
          if share.fields == nil { metadata.root = nil }
        }
        return notation.json(metadata, environment: environment)
      }
    }
  }

  static func recordsAccept(
    _ body: JSON, _ notation: Notation, environment: CloudEnvironment
  ) throws(CloudError) -> Exchange {
    let shares = try shares(body, notation)
    return Exchange(.acceptShares(shares.compactMap(\.url))) { reply throws(CloudError) in
      guard case .sharesAccepted(let results) = reply else { throw misplaced }
      return answer(shares, results, notation) { share, asked in
        json(share, asked.name, notation, environment)
      }
    }
  }

  private static func json(
    _ share: Record, _ name: String, _ notation: Notation, _ environment: CloudEnvironment
  ) -> JSON {
    let isOwn = share.id.zone.owner == ZoneID.currentOwner
    var notation = notation
    notation.database = isOwn ? .private : .shared
    let people = share.sharing?.participants ?? []
    let asker = people.first { $0.id == share.sharing?.currentParticipant }
    return .members([
      "shortGUID": .members(["value": .string(name)]),
      "containerIdentifier": .string(notation.container),
      "environment": .string(environment.rawValue.uppercased()),
      "databaseScope": .string(isOwn ? "PRIVATE" : "SHARED"),
      "zoneID": notation.json(share.id.zone),
      "rootRecordName": share.sharing?.root.map { .string($0.name) },
      "share": notation.json(share),
      "ownerIdentity": people.first { $0.role == .owner }.map { notation.json($0.identity) },
      "participantType": asker.flatMap { notation.json($0)["type"] },
      "participantStatus": .string("ACCEPTED"),
      "participantPermission": asker.flatMap { notation.json($0)["permission"] },
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
    return try users(try notation.items(body, "lookupInfos"), notation)
  }

  static func usersLookup(_ body: JSON, _ notation: Notation) throws(CloudError) -> Exchange {
    try users(try notation.items(body, "users"), notation)
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
