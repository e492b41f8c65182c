import CloudProtocol
import Records

/// Resolving and accepting shares, and finding users. Rules: WS-75 to WS-82.
extension ServerRequest {
  /// A share that a request names.
  private struct AskedShare: Sendable {
    /// The short name in the request.
    var name: String
    /// The share URL; `nil` for an empty name.
    var url: String?
    /// The desired fields of the root record; `nil` omits the record.
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

  /// The response for each of `shares`: its result encoded by `json`, or the error.
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
  ) throws(CloudError) -> ServerRequest {
    let shares = try shares(body, notation)
    return ServerRequest(.resolveShares(resolution(of: shares))) { reply throws(CloudError) in
      guard case .sharesResolved(let results) = reply else { throw mismatchedReply }
      return answer(shares, results, notation) { metadata, share in
        var metadata = metadata
        metadata.root = selectedRoot(metadata, for: share)
        return notation.json(metadata, environment: environment)
      }
    }
  }

  /// The request that resolves shares.
  ///
  /// It has one field selection; if the shares differ, all fields are fetched and some are omitted.
  private static func resolution(of shares: [AskedShare]) -> ResolveShares {
    let isUniform = Set(shares.map(\.fields)).count < 2
    let wantsRoots = shares.contains { $0.fields != nil }
    return ResolveShares(
      urls: shares.compactMap(\.url),
      rootFields: isUniform ? shares.first?.fields : wantsRoots ? .all : nil)
  }

  /// The root record with the fields that were asked for; `nil` if the record was not.
  private static func selectedRoot(_ metadata: ShareMetadata?, for share: AskedShare) -> Record? {
    guard let fields = share.fields, var root = metadata?.root else { return nil }
    root.fields = fields.applied(to: root.fields)
    return root
  }

  static func recordsAccept(
    _ body: JSON, _ notation: Notation, environment: CloudEnvironment
  ) throws(CloudError) -> ServerRequest {
    let shares = try shares(body, notation)
    var next: (@Sendable (CloudReply) -> CloudRequest?)?
    if shares.contains(where: { $0.fields != nil }) {
      next = { _ in .resolveShares(resolution(of: shares)) }
    }
    return ServerRequest(
      [.acceptShares(shares.compactMap(\.url))], next: next,
      answer: { outcomes throws(CloudError) in
        guard case .sharesAccepted(let results)? = try outcomes.first?.get() else {
          throw mismatchedReply
        }
        var resolved: [String: ShareMetadata] = [:]
        // The shares are accepted, also if their roots can't be read now.
        if outcomes.count > 1, case .success(.sharesResolved(let found)) = outcomes[1] {
          for result in found { resolved[result.id] = result.value }
        }
        return answer(shares, results, notation) { share, asked in
          let root = selectedRoot(asked.url.flatMap { resolved[$0] }, for: asked)
          return json(share, asked.name, root, notation, environment)
        }
      })
  }

  private static func json(
    _ share: Record, _ name: String, _ root: Record?, _ notation: Notation,
    _ environment: CloudEnvironment
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
      "share": notation.json(share), "rootRecord": root.map { notation.json($0) },
      "ownerIdentity": people.first { $0.role == .owner }.map { notation.json($0.identity) },
      "participantType": asker.flatMap { notation.json($0)["type"] },
      "participantStatus": .string("ACCEPTED"),
      "participantPermission": asker.flatMap { notation.json($0)["permission"] },
    ])
  }

  // MARK: Users

  static func currentUser() -> ServerRequest {
    ServerRequest(.fetchCurrentUser) { reply throws(CloudError) in
      guard case .currentUser(let user) = reply else { throw mismatchedReply }
      return .members(["userRecordName": .string(user.rawValue)])
    }
  }

  static func usersDiscover(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest
  {
    // The address book: a server has none.
    guard body["lookupInfos"] != nil else { return noUsers }
    return try users(try notation.items(body, "lookupInfos"), notation)
  }

  static func usersLookup(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest {
    try users(try notation.items(body, "users"), notation, areDictionaries: true)
  }

  /// Looks people up.
  ///
  /// - Parameter areDictionaries: whether the answer has the members of the older user dictionary,
  ///   too.
  private static func users(
    _ infos: [JSON], _ notation: Notation, areDictionaries: Bool = false
  ) throws(CloudError) -> ServerRequest {
    var lookups: [UserLookup] = []
    for info in infos { lookups.append(try notation.lookup(info)) }
    return ServerRequest(.findUsers(lookups)) { reply throws(CloudError) in
      guard case .usersFound(let results) = reply else { throw mismatchedReply }
      // Lookups without an account are omitted, so results do not match the lookups by position.
      return .members([
        "users": .array(
          results.compactMap(\.value).map {
            areDictionaries ? notation.userDictionary($0) : notation.json($0)
          }),
        Notation.extra: notation.isExact
          ? .array(results.map { $0.error.map { notation.json($0) } ?? .null }) : nil,
      ])
    }
  }

  static var noUsers: ServerRequest {
    ServerRequest([]) { _ throws(CloudError) in .members(["users": .array([])]) }
  }
}
