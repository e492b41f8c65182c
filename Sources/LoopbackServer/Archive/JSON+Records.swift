import CloudMachine
import Records
import WebServices

extension JSON {
  /// The content of a record, without its name and type.
  static func content(of record: Record) -> JSON {
    .members([
      "changeTag": record.changeTag.map { .string($0.rawValue) },
      "created": record.created.map { stamp($0) },
      "modified": record.modified.map { stamp($0) },
      "parent": record.parent.map { name($0) },
      "share": record.share.map { name($0) },
      "sharing": record.sharing.map { sharing($0) },
      "fields": fields(record.fields),
    ])
  }

  private static func stamp(_ stamp: RecordStamp) -> JSON {
    .members([
      "time": .time(stamp.time), "user": .string(stamp.user.rawValue),
      "device": stamp.device.map { .string($0) },
    ])
  }

  private static func sharing(_ share: ShareDetails) -> JSON {
    .members([
      "root": share.root.map { name($0) },
      "publicPermission": .word(share.publicPermission),
      "url": share.url.map { .string($0) },
      "participants": .array(share.participants.map { participant($0) }),
      "currentParticipant": share.currentParticipant.map { .string($0) },
    ])
  }

  private static func participant(_ participant: ShareParticipant) -> JSON {
    let identity = participant.identity
    return .members([
      "id": .string(participant.id), "role": .word(participant.role),
      "permission": .word(participant.permission), "acceptance": .word(participant.acceptance),
      "user": identity.user.map { .string($0.rawValue) },
      "lookup": identity.lookup.map { lookup($0) },
      "givenName": identity.givenName.map { .string($0) },
      "familyName": identity.familyName.map { .string($0) },
      "hasAccount": .bool(identity.hasAccount),
    ])
  }

  private static func lookup(_ lookup: UserLookup) -> JSON {
    switch lookup {
    case .email(let address): .members(["email": .string(address)])
    case .phone(let number): .members(["phone": .string(number)])
    case .user(let user): .members(["user": .string(user.rawValue)])
    }
  }

  /// The intervals of membership in shares; `nil` for none.
  static func memberships(_ memberships: [ShareMembership]) -> JSON? {
    if memberships.isEmpty { return nil }
    return .array(
      memberships.map { membership in
        .members([
          "share": .string(membership.share), "since": .integer(membership.since),
          "until": membership.until.map { .integer($0) },
        ])
      })
  }
}

extension ArchiveObject {
  mutating func content(of id: RecordID, type: String) throws -> Record {
    Record(
      id: id, type: type, changeTag: try optionalText("changeTag").map { ChangeTag($0) },
      fields: try fields("fields"), parent: try optionalRecordID("parent"),
      share: try optionalRecordID("share"),
      sharing: try optionalObject("sharing") { try $0.sharing() },
      created: try optionalObject("created") { try $0.stamp() },
      modified: try optionalObject("modified") { try $0.stamp() })
  }

  private mutating func stamp() throws -> RecordStamp {
    RecordStamp(
      time: try time("time"), user: UserID(try text("user")), device: try optionalText("device"))
  }

  private mutating func sharing() throws -> ShareDetails {
    ShareDetails(
      root: try optionalRecordID("root"),
      publicPermission: try caseNamed("publicPermission", SharePermission.self),
      url: try optionalText("url"),
      participants: try list("participants") { json in
        try ArchiveObject.read(json, "a participant") { try $0.participant() }
      },
      currentParticipant: try optionalText("currentParticipant"))
  }

  private mutating func participant() throws -> ShareParticipant {
    let identity = UserIdentity(
      user: try optionalText("user").map { UserID($0) },
      lookup: try optionalObject("lookup") { try $0.lookup() },
      givenName: try optionalText("givenName"), familyName: try optionalText("familyName"),
      hasAccount: try flag("hasAccount"))
    return ShareParticipant(
      id: try text("id"), identity: identity, role: try caseNamed("role", ShareRole.self),
      permission: try caseNamed("permission", SharePermission.self),
      acceptance: try caseNamed("acceptance", ShareAcceptance.self))
  }

  private mutating func lookup() throws -> UserLookup {
    if let address = try optionalText("email") { return .email(address) }
    if let number = try optionalText("phone") { return .phone(number) }
    return .user(UserID(try text("user")))
  }

  mutating func memberships() throws -> [ShareMembership] {
    try list("stays") { json in
      try ArchiveObject.read(json, "a stay") { membership in
        ShareMembership(
          share: try membership.text("share"), since: try membership.sequence("since"),
          until: try membership.optionalSequence("until"))
      }
    }
  }
}
