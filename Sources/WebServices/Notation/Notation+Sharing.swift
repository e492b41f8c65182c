package import CloudProtocol
package import Records

/// Shares and users.
///
/// Two generations of clients use different member names; both are accepted, and the newer ones are
/// written. Rules: WS-75 to WS-82.
extension Notation {
  /// Adds the share members to a record of `type`.
  func add(
    _ sharing: ShareDetails?, of zone: ZoneID, type: String, to members: inout JSON.Members
  ) {
    guard let sharing else {
      // Only the type is known, not the share's details.
      guard type == ShareDetails.recordType else { return }
      members.add(Notation.extra, exact { $0.write(optional: sharing) { $0.write($1) } })
      return
    }
    members.add("publicPermission", .string(Notation.name(of: sharing.publicPermission)))
    members.add("participants", .array(sharing.participants.map(json)))
    members.add(
      "owner", sharing.participants.first { $0.role == .owner }.map(json))
    members.add(
      "currentUserParticipant",
      sharing.participants.first { $0.id == sharing.currentParticipant }.map(json))
    members.add("forRecord", sharing.root.map { json($0, from: zone) })
    members.add("shortGUID", sharing.url.map { .string(Notation.shortName(ofShare: $0)) })
    members.add(Notation.extra, exact { $0.write(optional: sharing) { $0.write($1) } })
  }

  /// Decodes the share details of a record; `nil` for a record that is not a share.
  func sharing(of json: JSON, id: RecordID) throws(CloudError) -> ShareDetails? {
    let details = try exact(in: json) { (reader) throws(ByteFormatError) in
      try reader.optional { (reader) throws(ByteFormatError) in try reader.shareDetails() }
    }
    if let details { return details }
    let url = try json.optionalText("shortGUID").map { sharePrefix + $0 }
    // A share without any of these members is left unchanged.
    guard json["recordType"]?.string == ShareDetails.recordType,
      ["forRecord", "publicPermission", "participants"].contains(where: { json[$0] != nil })
    else { return nil }
    var participants: [ShareParticipant] = []
    for value in try json.optionalList("participants") {
      participants.append(try participant(value))
    }
    let current = try json["currentUserParticipant"].map { (value) throws(CloudError) in
      try participant(value)
    }
    return ShareDetails(
      root: try recordID(in: json, "forRecord", zone: id.zone),
      publicPermission: Notation.permission(try json.optionalText("publicPermission") ?? "NONE"),
      url: url, participants: participants, currentParticipant: current?.id)
  }

  /// Encodes a participant.
  package func json(_ participant: ShareParticipant) -> JSON {
    .members([
      "participantId": .string(participant.id), "userIdentity": json(participant.identity),
      "type": .string(Notation.name(of: participant.role)),
      "permission": .string(Notation.name(of: participant.permission)),
      "acceptanceStatus": .string(Notation.name(of: participant.acceptance)),
    ])
  }

  /// Decodes a participant; the server assigns an ID to one without.
  private func participant(_ json: JSON) throws(CloudError) -> ShareParticipant {
    ShareParticipant(
      id: try json.optionalText("participantId") ?? "",
      identity: try identity(json["userIdentity"] ?? .object(JSON.Members())),
      role: Notation.role(try json.optionalText("type") ?? "USER"),
      permission: Notation.permission(try json.optionalText("permission") ?? "READ_ONLY"),
      acceptance: Notation.acceptance(try json.optionalText("acceptanceStatus") ?? "INVITED"))
  }

  /// Encodes the part of an identity that the requester may see.
  package func json(_ identity: UserIdentity) -> JSON {
    var names = JSON.Members()
    names.add("givenName", identity.givenName.map { .string($0) })
    names.add("familyName", identity.familyName.map { .string($0) })
    return .members([
      "userRecordName": identity.user.map { .string($0.rawValue) },
      "nameComponents": names.elements.isEmpty ? nil : .object(names),
      "lookupInfo": identity.lookup.map(json),
      Notation.extra: exact { $0.write(identity) },
    ])
  }

  /// Encodes an identity with the members of the older user dictionary, too: names are null if they
  /// are unknown.
  package func userDictionary(_ identity: UserIdentity) -> JSON {
    var members = json(identity).members ?? JSON.Members()
    members.add("firstName", identity.givenName.map { .string($0) } ?? .null)
    members.add("lastName", identity.familyName.map { .string($0) } ?? .null)
    if case .email(let address)? = identity.lookup { members.add("emailAddress", .string(address)) }
    return .object(members)
  }

  /// Decodes an identity.
  package func identity(_ json: JSON) throws(CloudError) -> UserIdentity {
    let found = try exact(in: json) { (reader) throws(ByteFormatError) in
      try reader.userIdentity()
    }
    if let found { return found }
    let user = try json.optionalText("userRecordName").map { UserID($0) }
    let names = json["nameComponents"] ?? .null
    return UserIdentity(
      user: user,
      lookup: try lookup(of: json),
      givenName: try names.optionalText("givenName"),
      familyName: try names.optionalText("familyName"), hasAccount: user != nil)
  }

  /// Decodes a lookup written as an identity; `nil` if it is empty.
  private func lookup(of json: JSON) throws(CloudError) -> UserLookup? {
    guard let info = json["lookupInfo"] else { return nil }
    if let members = info.members, members.elements.allSatisfy(\.value.isNull) { return nil }
    return try lookup(info)
  }

  /// Encodes a user lookup.
  package func json(_ lookup: UserLookup) -> JSON {
    switch lookup {
    case .email(let address): .members(["emailAddress": .string(address)])
    case .phone(let number): .members(["phoneNumber": .string(number)])
    case .user(let user): .members(["userRecordName": .string(user.rawValue)])
    }
  }

  /// Decodes a user lookup.
  package func lookup(_ json: JSON) throws(CloudError) -> UserLookup {
    if let address = try json.optionalText("emailAddress") { return .email(address) }
    if let number = try json.optionalText("phoneNumber") { return .phone(number) }
    if let name = try json.optionalText("userRecordName") { return .user(UserID(name)) }
    throw .malformed("a person needs an emailAddress, a phoneNumber or a userRecordName")
  }

  // MARK: Enumerations

  /// The name of a case, such as `READ_ONLY` of `readOnly`.
  private static func name(of value: some CaseIterable) -> String {
    "\(value)".map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
  }

  private static func value<Value: CaseIterable>(named name: String) -> Value? {
    Value.allCases.first { self.name(of: $0) == name }
  }

  private static func permission(_ name: String) -> SharePermission {
    value(named: name) ?? .unknown
  }

  private static func role(_ name: String) -> ShareRole {
    name == "USER" ? .privateUser : value(named: name) ?? .unknown
  }

  private static func acceptance(_ name: String) -> ShareAcceptance {
    name == "INVITED" ? .pending : value(named: name) ?? .unknown
  }

  // MARK: URLs

  /// The share URL of the record `root`.
  /// - Throws: `invalidArguments` if the record cannot be shared.
  func urlOfShare(_ root: RecordID) throws(CloudError) -> String? {
    guard database == .private, root.zone.name != ZoneID.defaultName,
      root.zone.owner == ZoneID.currentOwner
    else {
      throw .malformed(
        "'createShortGUID' needs a record of one's own custom zone: others can't be shared")
    }
    return shareURL?(root)
  }

  /// The short name in a share's URL.
  package static func shortName(ofShare url: String) -> String {
    let path = url.prefix { $0 != "#" && $0 != "?" }
    return String(path.split(separator: "/").last ?? path)
  }

  /// The metadata of a share before it is accepted.
  package func json(_ metadata: ShareMetadata, environment: CloudEnvironment) -> JSON {
    .members([
      "shortGUID": .members([
        "value": .string(Notation.shortName(ofShare: metadata.share.sharing?.url ?? ""))
      ]),
      "containerIdentifier": .string(metadata.container),
      "environment": .string(environment.rawValue.uppercased()),
      "databaseScope": .string(metadata.role == .owner ? "PRIVATE" : "SHARED"),
      "zoneID": json(metadata.share.id.zone),
      "rootRecordName": metadata.rootID.map { .string($0.name) },
      "rootRecord": metadata.root.map(json), "share": json(metadata.share),
      "ownerIdentity": json(metadata.owner),
      "participantType": .string(Notation.name(of: metadata.role)),
      "participantStatus": .string(Notation.name(of: metadata.acceptance)),
      "participantPermission": .string(Notation.name(of: metadata.permission)),
      Notation.extra: exact { $0.write(metadata) },
    ])
  }

  /// The metadata of a share before it is accepted.
  package func metadata(_ json: JSON) throws(CloudError) -> ShareMetadata {
    let found = try exact(in: json) { (reader) throws(ByteFormatError) in
      try reader.shareMetadata()
    }
    if let found { return found }
    let zone = try self.zone(in: json)
    let root = try json.optionalText("rootRecordName").map { RecordID(name: $0, zone: zone) }
    return ShareMetadata(
      container: try json.optionalText("containerIdentifier") ?? container,
      share: try record(try json.object("share"), in: zone), rootID: root,
      root: try json["rootRecord"].map { (value) throws(CloudError) in
        try record(value, in: zone)
      },
      owner: try identity(json["ownerIdentity"] ?? .object(JSON.Members())),
      role: Notation.role(try json.optionalText("participantType") ?? "UNKNOWN"),
      acceptance: Notation.acceptance(try json.optionalText("participantStatus") ?? "UNKNOWN"),
      permission: Notation.permission(
        try json.optionalText("participantPermission") ?? "UNKNOWN"))
  }
}
