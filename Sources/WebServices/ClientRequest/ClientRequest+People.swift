import CloudProtocol
import Records

extension ClientRequest {
  static func fetchCurrentUser() -> ClientRequest {
    ClientRequest(.usersCaller, of: .public, body: nil) { answer throws(CloudError) in
      .currentUser(UserID(try answer.text("userRecordName")))
    }
  }

  private static func shortName(_ url: String, _ notation: Notation) -> JSON.Members {
    var members = JSON.Members()
    members.add("value", .string(Notation.shortName(ofShare: url)))
    members.add(Notation.extra, notation.exact { $0.write(url) })
    return members
  }

  static func resolveShares(_ request: ResolveShares, _ notation: Notation) -> ClientRequest {
    let urls = request.urls
    let names = urls.map { url -> JSON in
      var members = shortName(url, notation)
      if let fields = request.rootFields {
        members.add("shouldFetchRootRecord", .bool(true))
        members.add("rootRecordDesiredKeys", Notation.json(fields))
      }
      return .object(members)
    }
    return ClientRequest(
      .recordsResolve, of: .public, body: .members(["shortGUIDs": .array(names)])
    ) { answer throws(CloudError) in
      .sharesResolved(
        try results(try answer.list("results"), of: urls, notation) {
          item, url throws(CloudError) in
          var notation = notation
          notation.database = item["databaseScope"]?.string == "SHARED" ? .shared : .private
          return ItemResult(id: url, .success(try notation.metadata(item)))
        })
    }
  }

  static func acceptShares(_ urls: [String], _ notation: Notation) -> ClientRequest {
    let names = urls.map { JSON.object(shortName($0, notation)) }
    return ClientRequest(
      .recordsAccept, of: .public, body: .members(["shortGUIDs": .array(names)])
    ) { answer throws(CloudError) in
      .sharesAccepted(
        try results(try answer.list("results"), of: urls, notation) {
          item, url throws(CloudError) in
          var notation = notation
          notation.database = item["databaseScope"]?.string == "PRIVATE" ? .private : .shared
          let share = try item.object("share")
          let zone = try notation.zone(in: item)
          return ItemResult(id: url, .success(try notation.record(share, in: zone)))
        })
    }
  }

  static func findUsers(_ lookups: [UserLookup], _ notation: Notation) -> ClientRequest {
    let body = JSON.members(["lookupInfos": .array(lookups.map { notation.json($0) })])
    return ClientRequest(.usersDiscover, of: .public, body: body) { answer throws(CloudError) in
      var found: [UserIdentity] = []
      for item in try answer.list("users") { found.append(try notation.identity(item)) }
      if let failures = answer[Notation.extra]?.array {
        return try users(found, lookups, failures, notation)
      }
      return .usersFound(
        lookups.map { lookup in
          let identity = found.first { identity in
            if case .user(let user) = lookup { return identity.user == user }
            return identity.lookup == lookup
          }
          guard var identity else {
            return ItemResult(
              id: lookup,
              .failure(CloudError(.unknownItem, "no account belongs to this person")))
          }
          identity.lookup = lookup
          return ItemResult(id: lookup, .success(identity))
        })
    }
  }

  /// The found users in their order, with failures for the others.
  private static func users(
    _ found: [UserIdentity], _ lookups: [UserLookup], _ failures: [JSON], _ notation: Notation
  ) throws(CloudError) -> CloudReply {
    guard failures.count == lookups.count else {
      throw .malformed(
        "\(failures.count) items were received where \(lookups.count) were requested")
    }
    var rest = found[...]
    var results: [ItemResult<UserLookup, UserIdentity>] = []
    for (lookup, failure) in zip(lookups, failures) {
      if let error = try notation.error(failure) {
        results.append(ItemResult(id: lookup, .failure(error)))
      } else if let identity = rest.popFirst() {
        results.append(ItemResult(id: lookup, .success(identity)))
      } else {
        throw .malformed("there are fewer people than results")
      }
    }
    return .usersFound(results)
  }
}
