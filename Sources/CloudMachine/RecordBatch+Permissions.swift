import CloudProtocol
import Records

/// Permission checks of a batch.
extension RecordBatch {
  /// The error if the requester may not save this record, regardless of its version.
  ///
  /// A record that the requester cannot see is treated as missing, but its name is not available.
  mutating func faultOfPlace(_ item: PendingSave) throws -> CloudError? {
    if item.row?.record != nil && item.stored == nil {
      return CloudError(.permissionFailure, "this name can't be used here")
    }
    if item.save.type == ShareDetails.recordType {
      guard access.isShared, let details = item.stored?.sharing,
        let participant = access.participant(in: details),
        participant.role != .administrator, participant.permission != .readWrite
      else { return nil }
      return .readOnly
    }
    if let stored = item.stored {
      if case .set(let parent?) = item.save.parent, hidesParent(of: stored),
        parent != stored.parent
      {
        return CloudError(.permissionFailure, "only the owner moves the root of a share")
      }
      return try permissionFault(stored, isDeletion: false)
    }
    guard access.isShared, access.isWhole else { return nil }
    return try mayWrite(in: ShareDetails.zoneWideName) ? nil : .readOnly
  }

  /// Whether the requester does not see the parent of a record, because it is the root of a share.
  func hidesParent(of stored: Record?) -> Bool {
    stored.map { access.roots.contains($0.id) } ?? false
  }

  /// The error if the requester may not change or delete `stored`, a visible record that is not a
  /// share.
  ///
  /// In the public database the default roles let everyone read, accounts create, and only the
  /// creator change a record. Rules: CS-150 to CS-170.
  mutating func permissionFault(_ stored: Record, isDeletion: Bool) throws -> CloudError? {
    if context.database.scope == .public {
      guard let creator = stored.created?.user, creator != context.account?.user else {
        return nil
      }
      return CloudError(
        .permissionFailure, "in the public database a record is changed by its creator only")
    }
    guard access.isShared else { return nil }
    let share: String?
    if access.isWhole {
      share = ShareDetails.zoneWideName
    } else {
      share = try row(stored.id)?.share
    }
    guard let share, try mayWrite(in: share) else { return .readOnly }
    guard isDeletion,
      try row(RecordID(name: share, zone: zone.id))?.record?.sharing?.root == stored.id
    else { return nil }
    return CloudError(
      .permissionFailure, "only the owner can delete the root; delete the share to leave it")
  }

  /// Whether the requester, who is not the owner, may change records in the share called `name`.
  mutating func mayWrite(in name: String) throws -> Bool {
    guard
      let details = try row(RecordID(name: name, zone: zone.id))?.record?.sharing,
      let participant = access.participant(in: details)
    else { return false }
    return participant.permission == .readWrite
  }

  /// Whether a deletion by a participant would also delete a share with its root.
  mutating func drawsShareAlong(_ removal: Removal) throws -> Bool {
    guard access.isShared, removal.id != deletes[removal.cause].id else { return false }
    return try row(removal.id)?.record?.sharing != nil
  }

  /// The error of an invalid save of a share, regardless of the stored record.
  ///
  /// Rules: CS-150 to CS-170.
  func faultOfShareForm(_ save: RecordSave) -> CloudError? {
    if context.database.scope == .public {
      return CloudError(.badDatabase, "nothing can be shared in the public database")
    }
    if zone.id == .default {
      return CloudError(.invalidArguments, "a share needs a custom zone")
    }
    if case .set(_?) = save.parent {
      return CloudError(.invalidArguments, "a share has no parent")
    }
    guard let sharing = save.sharing else { return nil }
    let isZoneWide = save.id.name == ShareDetails.zoneWideName
    if isZoneWide != (sharing.root == nil) {
      return CloudError(
        .invalidArguments,
        "the share of a whole zone is called \(ShareDetails.zoneWideName), any other one has a "
          + "root record")
    }
    if let root = sharing.root, root.zone != zone.id || root == save.id {
      return CloudError(.invalidArguments, "the root of a share must be a record of the same zone")
    }
    return nil
  }

  /// The share details to store.
  ///
  /// A participant may change the participants as an administrator; otherwise the details must be
  /// unchanged.
  func settledSharing(_ item: PendingSave) throws -> ShareDetails {
    let stored = item.stored?.sharing
    guard let owner = access.owner, var asked = item.save.sharing ?? stored else {
      throw Refusal(.invalidArguments, "a new share must say what it shares")
    }
    asked.currentParticipant = nil
    if let root = asked.root, stored == nil, savePosition(of: root) == nil {
      throw Refusal(
        .invalidArguments, "a new share must be saved together with its root record")
    }
    if access.isShared {
      guard let stored, let participant = access.participant(in: stored) else {
        throw Refusal(.permissionFailure, "only the owner shares a record")
      }
      if asked == stored && participant.permission == .readWrite { return stored }
      guard participant.role == .administrator, asked.keeps(administratorsOf: stored) else {
        throw Refusal(.permissionFailure, "only the owner and administrators change a share")
      }
    }
    return try ShareRules(context: context, owner: owner).settled(
      asked, over: stored, in: access.home, zone: zone.id)
  }
}

extension ShareDetails {
  /// Whether the owner and administrators of `old` are unchanged, without additions.
  fileprivate func keeps(administratorsOf old: ShareDetails) -> Bool {
    func leaders(_ details: ShareDetails) -> [ShareParticipant] {
      details.participants.filter { $0.role == .owner || $0.role == .administrator }
        .sorted { $0.id < $1.id }
    }
    return leaders(self) == leaders(old)
  }
}

extension CloudError {
  fileprivate static let readOnly = CloudError(
    .permissionFailure, "the share is read-only; ask its owner for permission to write")
}
