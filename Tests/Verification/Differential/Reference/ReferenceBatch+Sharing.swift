import CloudProtocol
import Records

/// The rules of shares that are saved.
///
/// Rules: CS-150 to CS-170; CS-154 to CS-157, CS-162, CS-167.
extension ReferenceBatch {
  /// What a share comes to that is saved: the client proposes participants and permissions; the
  /// server keeps the owner, the URL and who accepted.
  func settled(
    _ save: RecordSave, over old: ShareDetails?
  ) throws(CloudError) -> ShareDetails {
    guard var asked = save.sharing ?? old else { throw refusal(.invalidArguments) }
    asked.currentParticipant = nil
    if old == nil, let root = asked.root, !saves.contains(where: { $0.id == root }) {
      throw refusal(.invalidArguments)
    }
    if place.isVisit {
      // A participant may save a share only as it is.
      guard let old, asked == old, place.mayWrite(in: save.id.name) else {
        throw refusal(.permissionFailure)
      }
      return old
    }
    if let old, old.root != asked.root { throw refusal(.invalidArguments) }
    let isOpen = asked.publicPermission.allowsReading
    let wasOpen = old?.publicPermission.allowsReading ?? false
    var new = asked
    new.publicPermission = isOpen ? asked.publicPermission : .none
    new.url = old?.url ?? "url of \(place.home)/\(place.name)/\(asked.root?.name ?? "")"
    new.participants = [
      ShareParticipant(
        id: "owner", identity: UserIdentity(user: UserID(place.home)), role: .owner,
        permission: .readWrite, acceptance: .accepted)
    ]
    for var one in asked.participants where one.role != .owner {
      let account = try Device.person(one.identity)
      if account == place.home { continue }
      one.identity.user = account.map { UserID($0) }
      func isSame(_ other: ShareParticipant) -> Bool {
        other.id == one.id || other.identity.isPerson(one.identity)
      }
      if new.participants.contains(where: isSame) { throw refusal(.participantAlreadyInvited) }
      guard let known = old?.participants.first(where: isSame) else {
        if isOpen { throw refusal(.invalidArguments) }
        one.role = .privateUser
        one.acceptance = .pending
        new.participants.append(one)
        continue
      }
      if wasOpen, !isOpen, known.id != one.id {
        one.role = .privateUser
        one.acceptance = .pending
        new.participants.append(one)
        continue
      }
      let isOut = wasOpen && !isOpen || !wasOpen && isOpen && known.acceptance != .accepted
      if isOut { continue }
      one.id = known.id
      one.role = known.role
      one.acceptance = known.acceptance
      one.identity = known.identity
      if known.role == .publicUser { one.permission = new.publicPermission }
      new.participants.append(one)
    }
    return new
  }

  /// The saves that shares forbid, when `saves` hold and `gone` go.
  func sharingFaults(
    saves: [RecordSave], promised: [String], in zone: [String: ReferenceRecord], gone: Set<String>
  ) -> [RecordID: CloudError] {
    var faults: [RecordID: CloudError] = [:]
    let new = saves.filter {
      zone[$0.id.name]?.record.sharing != nil && self.zone[$0.id.name] == nil
    }
    let left = place.zone.hierarchies.filter { !gone.contains($0) }
    var after = place.zone
    after.records = zone.filter { !gone.contains($0.key) }
    let isWide = after.records[ShareDetails.zoneWideName] != nil
    for save in new { after.records[save.id.name] = nil }
    for save in new where errors[save.id] == nil {
      guard let root = zone[save.id.name]?.record.sharing?.root?.name else {
        if !left.isEmpty { faults[save.id] = refusal(.invalidArguments) }
        continue
      }
      if isWide {
        faults[save.id] = refusal(.serverRejectedRequest)
      } else if !saves.contains(where: { $0.id.name == root }), !promised.contains(root) {
        // A share is made with its root or not at all.
        faults[save.id] = refusal(.referenceViolation)
      } else if after.share(of: root) != nil {
        faults[save.id] = refusal(.alreadyShared)
      } else {
        after.records[save.id.name] = zone[save.id.name]
        let overlaps = after.hierarchies.contains { other in
          guard other != save.id.name,
            let inner = after.records[other]?.record.sharing?.root?.name,
            let parent = after.records[inner]?.record.parent?.name
          else { return false }
          return after.share(of: parent) == save.id.name
        }
        if overlaps { faults[save.id] = refusal(.alreadyShared) }
      }
    }
    for save in overlappingMoves(saves, in: after, new: new.map(\.id.name)) {
      faults[save] = faults[save] ?? refusal(.alreadyShared)
    }
    guard place.isVisit, !place.isWhole else { return faults }
    for save in saves where zone[save.id.name]?.record.sharing == nil {
      if let share = after.share(of: save.id.name), place.mayWrite(in: share) { continue }
      faults[save.id] = refusal(.permissionFailure)
    }
    return faults
  }
}

extension ReferenceBatch {
  /// The saves that bring the root of a share below a record of another share: the root's own save
  /// if it changes its parent, and the nearest save above it if that changes its share.
  private func overlappingMoves(
    _ saves: [RecordSave], in after: ReferenceZone, new: [String]
  ) -> [RecordID] {
    func save(of name: String) -> RecordID? { saves.first { $0.id.name == name }?.id }
    var found: [RecordID] = []
    for share in after.hierarchies {
      guard let root = after.records[share]?.record.sharing?.root?.name,
        let parent = after.records[root]?.record.parent?.name,
        let outer = after.share(of: parent), outer != share
      else { continue }
      if let id = save(of: root), zone[root]?.record.parent?.name != parent { found.append(id) }
      // A new share answers for what it takes in.
      if new.contains(outer) { continue }
      var here: String? = parent
      var climbed: Set<String> = []
      while let name = here, climbed.insert(name).inserted {
        if let id = save(of: name) {
          if place.zone.share(of: name) != after.share(of: name) { found.append(id) }
          break
        }
        here = after.records[name]?.record.parent?.name
      }
    }
    return found
  }
}

extension UserIdentity {
  /// Whether both are one person, as far as is known.
  func isPerson(_ other: UserIdentity) -> Bool {
    if let user, let theirs = other.user { return user == theirs }
    return lookup != nil && lookup == other.lookup
  }
}

extension ShareDetails {
  /// Takes `account` out: whoever came by the link goes, whoever was invited stays as removed.
  mutating func remove(_ account: String) {
    let user = UserID(account)
    participants.removeAll { $0.identity.user == user && $0.role == .publicUser }
    for index in participants.indices where participants[index].identity.user == user {
      participants[index].acceptance = .removed
    }
  }
}

extension Device {
  /// The account of a person, `nil` for one without; throws for a user that is none.
  ///
  /// Rules: CS-166.
  static func person(_ identity: UserIdentity) throws(CloudError) -> String? {
    if let user = identity.user, accounts.contains(user.rawValue) { return user.rawValue }
    switch identity.lookup ?? identity.user.map({ .user($0) }) {
    case .email(let address): return accounts.first { "\($0)@example.com" == address }
    case .user(let user):
      guard accounts.contains(user.rawValue) else { throw refusal(.unknownItem) }
      return user.rawValue
    case .phone: return nil
    case nil: throw refusal(.invalidArguments)
    }
  }
}
