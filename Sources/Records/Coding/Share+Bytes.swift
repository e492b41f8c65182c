/// The binary form of shares; see `Record+Bytes.swift`.
extension ByteWriter {
  /// Appends what a share record carries beyond a record.
  public mutating func write(_ share: ShareDetails) {
    write(optional: share.root) { $0.write($1) }
    write(share.publicPermission.rawValue)
    write(optional: share.url) { $0.write($1) }
    write(list: share.participants) { $0.write($1) }
    write(optional: share.currentParticipant) { $0.write($1) }
  }

  /// Appends one person in a share.
  public mutating func write(_ participant: ShareParticipant) {
    write(participant.id)
    write(participant.identity)
    write(participant.role.rawValue)
    write(participant.permission.rawValue)
    write(participant.acceptance.rawValue)
  }

  /// Appends a person.
  public mutating func write(_ identity: UserIdentity) {
    write(optional: identity.user) { $0.write($1.rawValue) }
    write(optional: identity.lookup) { $0.write($1) }
    write(optional: identity.givenName) { $0.write($1) }
    write(optional: identity.familyName) { $0.write($1) }
    write(identity.hasAccount)
  }

  /// Appends a way to find a person.
  public mutating func write(_ lookup: UserLookup) {
    switch lookup {
    case .email(let address):
      write(UInt8(0))
      write(address)
    case .phone(let number):
      write(UInt8(1))
      write(number)
    case .user(let user):
      write(UInt8(2))
      write(user.rawValue)
    }
  }
}

extension ByteReader {
  /// What a share record carries beyond a record.
  public mutating func shareDetails() throws(ByteFormatError) -> ShareDetails {
    let root = try optional { (reader) throws(ByteFormatError) in try reader.recordID() }
    let permission: SharePermission = try enumeration("the permission of a share is unknown")
    let url = try optionalString()
    let participants = try list { (reader) throws(ByteFormatError) in
      try reader.shareParticipant()
    }
    return ShareDetails(
      root: root, publicPermission: permission, url: url, participants: participants,
      currentParticipant: try optionalString())
  }

  /// One person in a share.
  public mutating func shareParticipant() throws(ByteFormatError) -> ShareParticipant {
    let id = try string()
    let identity = try userIdentity()
    let role: ShareRole = try enumeration("the role of a share is unknown")
    let permission: SharePermission = try enumeration("the permission of a share is unknown")
    return ShareParticipant(
      id: id, identity: identity, role: role, permission: permission,
      acceptance: try enumeration("the acceptance of a share is unknown"))
  }

  /// A person.
  public mutating func userIdentity() throws(ByteFormatError) -> UserIdentity {
    let user = try optional { (reader) throws(ByteFormatError) in UserID(try reader.string()) }
    let lookup = try optional { (reader) throws(ByteFormatError) in try reader.userLookup() }
    let givenName = try optionalString()
    let familyName = try optionalString()
    return UserIdentity(
      user: user, lookup: lookup, givenName: givenName, familyName: familyName,
      hasAccount: try bool())
  }

  /// A way to find a person.
  public mutating func userLookup() throws(ByteFormatError) -> UserLookup {
    switch try byte() {
    case 0: return .email(try string())
    case 1: return .phone(try string())
    case 2: return .user(UserID(try string()))
    default: throw fault("the kind of a lookup is unknown")
    }
  }
}
