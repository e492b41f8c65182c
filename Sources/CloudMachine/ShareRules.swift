import CloudProtocol
import Records

/// The rules for saving a share: the client sets the details, except for the URL, the owner and the
/// accepted participants, which the server keeps.
///
/// Rules: CS-150 to CS-170.
struct ShareRules {
  let context: RequestContext
  let owner: AccountRow

  /// The details to store when `asked` is saved over `stored`.
  func settled(
    _ asked: ShareDetails, over stored: ShareDetails?, in home: DatabaseID, zone: ZoneID
  ) throws -> ShareDetails {
    if let stored, stored.root != asked.root {
      throw Refusal(.invalidArguments, "a share can't change its root; create another share")
    }
    // Refused before anyone is looked up. The entries of the owner and of stored participants may
    // be left out below, so they are not counted here.
    let spare = 1 + (stored?.participants.count ?? 0)
    guard asked.participants.count <= context.limits.shareParticipants + spare else {
      throw tooMany
    }
    var settled = ShareDetails(
      root: asked.root,
      publicPermission: asked.publicPermission.allowsReading
        ? asked.publicPermission : .none)
    settled.url =
      try stored?.url
      ?? ShareAddress.url(ofShareOf: asked.root, in: zone, home, context.storage)
    let isOwner = { (one: ShareParticipant) in
      one.role == .owner || one.identity.user == owner.user
    }
    let asOwner =
      stored?.participants.first(where: isOwner) ?? asked.participants.first(where: isOwner)
    settled.participants = [
      ShareParticipant(
        id: asOwner?.id ?? "owner", identity: context.identity(of: owner), role: .owner,
        permission: .readWrite, acceptance: .accepted)
    ]
    for one in asked.participants where !isOwner(one) {
      guard let entry = try participant(one, in: settled, over: stored) else { continue }
      settled.participants.append(entry)
    }
    guard settled.participants.count - 1 <= context.limits.shareParticipants else { throw tooMany }
    return settled
  }

  private var tooMany: Refusal {
    Refusal(
      .tooManyParticipants,
      "a share takes at most \(context.limits.shareParticipants) participants")
  }

  /// The resulting entry of a participant; `nil` for none.
  private func participant(
    _ asked: ShareParticipant, in settled: ShareDetails, over stored: ShareDetails?
  ) throws -> ShareParticipant? {
    guard asked.id.utf8.count <= context.limits.nameLength else {
      throw Refusal(.invalidArguments, "the ID of a participant is too long")
    }
    let identity = try resolved(asked.identity)
    if identity.user == owner.user { return nil }
    let givenID = asked.id
    var asked = asked
    if asked.id.isEmpty {
      let known = stored?.participants.first { $0.identity.isSame(identity) }
      asked.id =
        try known?.id
        ?? ShareAddress.participantID(
          of: identity, in: settled.url ?? "", context.storage)
    }
    if let user = identity.user, let stored,
      stored.participants.contains(where: { $0.id == asked.id && $0.identity.user == nil }),
      (settled.participants + stored.participants).contains(where: { $0.identity.user == user })
    {
      // Open invitations to several addresses of one account become one. Rule: CS-248.
      return nil
    }
    if settled.participants.contains(where: { $0.id == asked.id || $0.identity.isSame(identity) }) {
      throw Refusal(.participantAlreadyInvited, "a user is named twice in the share")
    }
    let isOpen = settled.publicPermission.allowsReading
    let wasOpen = stored?.publicPermission.allowsReading ?? false
    let old = stored?.participants.first {
      $0.id == asked.id || $0.identity.isSame(identity)
    }
    let isClosed = wasOpen && !isOpen
    // A person who is added again to a closed share is invited; an entry that is left is not.
    guard var one = old, !isClosed || one.id == givenID else {
      if isOpen {
        throw Refusal(
          .invalidArguments, "participants cannot be invited while everyone with the URL may join")
      }
      let role: ShareRole = asked.role == .administrator ? .administrator : .privateUser
      return ShareParticipant(
        id: asked.id, identity: identity, role: role, permission: asked.permission.settled,
        acceptance: .pending)
    }
    // Closing a share removes every participant; opening it removes those who have not accepted.
    if isClosed || !wasOpen && isOpen && one.acceptance != .accepted {
      return nil
    }
    if one.role == .publicUser {
      one.permission = settled.publicPermission
    } else {
      one.permission = asked.permission.settled
      one.role = asked.role == .administrator ? .administrator : .privateUser
    }
    return one
  }

  /// `identity` completed with the account's data.
  private func resolved(_ identity: UserIdentity) throws -> UserIdentity {
    let lookup = identity.lookup ?? identity.user.map { .user($0) }
    guard let lookup else {
      throw Refusal(
        .invalidArguments, "a participant needs an e-mail address, phone number or user name")
    }
    guard lookup.text.utf8.count <= context.limits.nameLength else {
      throw Refusal(
        .invalidArguments,
        "the address of a participant is longer than \(context.limits.nameLength) bytes")
    }
    if let user = identity.user, let account = try context.storage.account(user) {
      return context.identity(of: account, lookup: identity.lookup)
    }
    if let account = try context.account(for: lookup) {
      return context.identity(of: account, lookup: lookup)
    }
    if case .user = lookup { throw Refusal(.unknownItem, "a participant has no account") }
    return UserIdentity(lookup: lookup, hasAccount: false)
  }

  /// The participant that `account` is, or would become, in a share with these details.
  func participant(
    of account: AccountRow, in details: ShareDetails
  ) throws -> ShareParticipant {
    let entry = try details.participants.first { try context.isPerson($0.identity, account) }
    if let entry, entry.permission.allowsReading { return entry }
    if details.publicPermission.allowsReading {
      // A user is in a share once: an existing entry without permission is used for joining.
      return ShareParticipant(
        id: entry?.id ?? account.user.rawValue, identity: context.identity(of: account),
        role: .publicUser, permission: details.publicPermission)
    }
    let mayBe = details.participants.contains {
      $0.identity.user == nil && $0.acceptance == .pending
    }
    guard mayBe else {
      throw Refusal(.permissionFailure, "the share is for invited people; ask its owner")
    }
    throw Refusal(
      .participantMayNeedVerification,
      "the share is for people invited by address or number; verify which of them this is")
  }
}

extension UserLookup {
  /// The address, number or name.
  fileprivate var text: String {
    switch self {
    case .email(let text), .phone(let text): text
    case .user(let user): user.rawValue
    }
  }
}

extension SharePermission {
  /// The permission, with `unknown` replaced by `readOnly`.
  fileprivate var settled: SharePermission { self == .unknown ? .readOnly : self }
}

extension UserIdentity {
  /// Whether both identities match the same user.
  fileprivate func isSame(_ other: UserIdentity) -> Bool {
    if let user, let theirs = other.user { return user == theirs }
    return lookup != nil && lookup == other.lookup
  }
}
