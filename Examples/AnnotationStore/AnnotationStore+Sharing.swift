public import Foundation
import SyncSupport
import Synchronization

/// A participant of a shared layer.
public struct LayerParticipant: Hashable, Sendable, Codable, Identifiable {
  /// Names the person within the share.
  public var id: String
  /// What is known of the person's name; may be empty.
  public var name: String
  /// Whether it is the owner.
  public var isOwner: Bool
  /// Whether the person may write.
  public var mayWrite: Bool
  /// Whether the person accepted the invitation.
  public var hasAccepted: Bool
}

/// A person or a group to invite to a layer.
public enum LayerGuest: Hashable, Sendable {
  /// The person with this address for mail.
  case email(String)
  /// The person with this telephone number.
  case phone(String)
  /// The person with this user record.
  case user(String)
  /// Everyone who knows the link.
  case anyoneWithLink
}

/// Shared layers. The calls that change a share need the network.
extension AnnotationStore {
  /// Shares a layer and its items, or changes how it is shared.
  ///
  /// - Parameters:
  ///   - guests: the people to invite; those who are invited already stay.
  ///   - mayWrite: whether these guests may change the layer.
  /// - Returns: the link for the guests.
  /// - Throws: `AnnotationError` if the layer is another user's or not in the cloud yet, or if a
  ///   guest can't be found; the `CKError` that prevents it.
  public func share(
    _ layer: UUID, with guests: [LayerGuest], mayWrite: Bool = true
  ) async throws -> URL {
    let item = try ownLayer(layer)
    guard item.cloud != nil else { throw AnnotationError.notInCloud(layer) }
    return try await operations.run {
      let generation = state.withLock { $0.generation }
      let database = container.privateCloudDatabase
      let root = try await record(item.recordID)
      let share = try await known(root) ?? CKShare(rootRecord: root)
      share[CKShare.SystemFieldKey.title] = item.fields[text: "name"] ?? "Shared layer"
      let permission: CKShare.ParticipantPermission = mayWrite ? .readWrite : .readOnly
      // The link first: a change of its permission ends invitations.
      if guests.contains(.anyoneWithLink) { share.publicPermission = permission }
      for guest in guests {
        guard let person = try await participant(guest) else { continue }
        person.permission = permission
        share.addParticipant(person)
      }
      let saved = try await attempt {
        try await database.modifyRecords(saving: [root, share], deleting: [])
      }
      let records = try saved.saveResults.values.map { try $0.get() }
      guard let url = share.url else { throw AnnotationError.shareFailed }
      try takeIn(records, nil, generation)
      return url
    }
  }

  /// Accepts the share of a layer, and fetches it.
  ///
  /// - Throws: `AnnotationError.shareNotAccepted` if this account can't use the link; the `CKError`
  ///   that prevents it.
  public func accept(_ url: URL) async throws {
    do {
      let metadata = try await attempt { try await container.shareMetadata(for: url) }
      guard metadata.share.recordID.zoneID.isOurs else {
        throw AnnotationError.shareNotAccepted
      }
      // The owner has it already.
      guard metadata.participantRole != .owner else { return }
      _ = try await attempt { try await container.accept(metadata) }
    } catch let error as CKError
      where [.unknownItem, .permissionFailure, .participantMayNeedVerification]
      .contains(error.code)
    {
      throw AnnotationError.shareNotAccepted
    }
    try await sync()
  }

  /// Ends the sharing of a layer, or removes one person from it.
  ///
  /// The layer stays with its owner; the others lose it at their next sync.
  /// - Parameter participant: the person to remove; `nil` for all.
  /// - Throws: `AnnotationError` if the layer is another user's or not shared.
  public func revoke(_ layer: UUID, participant: LayerParticipant.ID? = nil) async throws {
    let item = try ownLayer(layer)
    try await operations.run {
      let generation = state.withLock { $0.generation }
      let database = container.privateCloudDatabase
      guard let share = try await known(try await record(item.recordID)) else {
        throw AnnotationError.notShared(layer)
      }
      guard let participant else {
        _ = try await attempt { try await database.deleteRecord(withID: share.recordID) }
        return try takeIn(
          [try await record(item.recordID)], removed: [share.recordID.recordName], nil, generation)
      }
      guard let person = share.participants.first(where: { $0.participantID == participant })
      else { throw AnnotationError.unknownPerson }
      share.removeParticipant(person)
      _ = try await attempt { try await database.save(share) }
      try takeIn([share], nil, generation)
    }
  }

  /// Leaves another user's layer; the local copy is removed.
  ///
  /// - Throws: `AnnotationError.notShared` if it is not another user's.
  public func leave(_ layer: UUID) async throws {
    guard let item = state.withLock({ $0.tables.item(layer, .layer) }) else {
      throw AnnotationError.notFound(layer)
    }
    guard item.owner != nil, let share = shareState(layer) else {
      throw AnnotationError.notShared(layer)
    }
    let recordID = CKRecord.ID(recordName: share.name, zoneID: item.recordID.zoneID)
    try await operations.run {
      _ = try await attempt {
        try await container.sharedCloudDatabase.deleteRecord(withID: recordID)
      }
    }
    try await sync()
  }

  /// Whether a layer is shared, by this account or with it.
  public func isShared(_ layer: UUID) -> Bool { shareState(layer) != nil }

  /// Whether this account may change what is on a layer.
  public func mayWrite(_ layer: UUID) -> Bool {
    state.withLock { state in
      guard let item = state.tables.item(layer, .layer) else { return false }
      return item.owner == nil || state.tables.share(of: item)?.mayWrite == true
    }
  }

  /// Whether a layer is this account's own.
  public func isOwn(_ layer: UUID) -> Bool {
    state.withLock { $0.tables.item(layer, .layer)?.owner == nil }
  }

  /// The link of a shared layer; `nil` when it is not shared.
  public func shareURL(of layer: UUID) -> URL? { shareState(layer)?.url }

  /// The participants of a layer, the owner first; empty if it is not shared.
  public func participants(of layer: UUID) -> [LayerParticipant] {
    (shareState(layer)?.people ?? []).map { person in
      LayerParticipant(
        id: person.id, name: person.name,
        isOwner: person.role == CKShare.ParticipantRole.owner.rawValue,
        mayWrite: person.permission == CKShare.ParticipantPermission.readWrite.rawValue,
        hasAccepted: person.acceptance
          == CKShare.ParticipantAcceptanceStatus.accepted.rawValue)
    }
  }

  // MARK: Parts

  private func shareState(_ layer: UUID) -> ShareState? {
    state.withLock { state in
      state.tables.item(layer, .layer).flatMap { state.tables.share(of: $0) }
    }
  }

  private func ownLayer(_ id: UUID) throws(AnnotationError) -> StoredItem {
    guard let item = state.withLock({ $0.tables.item(id, .layer) }) else { throw .notFound(id) }
    guard item.owner == nil else { throw .notOwner(id) }
    return item
  }

  private func record(_ recordID: CKRecord.ID) async throws -> CKRecord {
    try await attempt { try await container.privateCloudDatabase.record(for: recordID) }
  }

  /// The share of a layer's record; `nil` if it is not shared.
  private func known(_ root: CKRecord) async throws -> CKShare? {
    guard let reference = root.share else { return nil }
    guard let share = try await record(reference.recordID) as? CKShare else {
      throw AnnotationError.shareFailed
    }
    return share
  }

  private func participant(_ guest: LayerGuest) async throws -> CKShare.Participant? {
    do {
      return try await attempt {
        switch guest {
        case .email(let address):
          try await container.shareParticipant(forEmailAddress: address)
        case .phone(let number): try await container.shareParticipant(forPhoneNumber: number)
        case .user(let name):
          try await container.shareParticipant(forUserRecordID: CKRecord.ID(recordName: name))
        case .anyoneWithLink: nil
        }
      }
    } catch let error as CKError where error.code == .unknownItem {
      throw AnnotationError.unknownPerson
    }
  }
}

extension ShareState {
  init(_ share: CKShare, owner: String?) {
    name = share.recordID.recordName
    self.owner = owner
    url = share.url
    let mine = share.currentUserParticipant?.permission
    permission = (owner == nil ? .readWrite : mine ?? share.publicPermission).rawValue
    people = share.participants.map { person in
      let name = person.userIdentity.nameComponents
      return Person(
        id: person.participantID,
        name: [name?.givenName, name?.familyName].compactMap(\.self).joined(separator: " "),
        role: person.role.rawValue, permission: person.permission.rawValue,
        acceptance: person.acceptanceStatus.rawValue)
    }
  }

  /// Whether this account may change what is in it.
  var mayWrite: Bool { permission == CKShare.ParticipantPermission.readWrite.rawValue }
}
