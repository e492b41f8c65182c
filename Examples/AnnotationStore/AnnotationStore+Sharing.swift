import CloudSync
public import Foundation
import SyncSupport
import Synchronization

/// Somebody in a share.
public struct LayerParticipant: Hashable, Sendable, Codable, Identifiable {
  /// Names the person within the share.
  public var id: String
  /// What is known of the person's name; may be empty.
  public var name: String
  /// Whether it is the owner.
  public var isOwner: Bool
  /// Whether the person may write.
  public var mayWrite: Bool
  /// Whether the person came.
  public var hasAccepted: Bool
}

/// Who is invited to a layer.
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

/// Layers that several people work on. Each call asks the cloud, and needs the network.
extension AnnotationStore {
  /// Shares a layer and all on it, or changes how it is shared.
  ///
  /// - Parameters:
  ///   - guests: who is let in; those who are in already stay.
  ///   - mayWrite: whether these guests may change what is on the layer.
  /// - Returns: the link to send to the guests.
  /// - Throws: `AnnotationError` when the layer is somebody else's or not in the cloud yet, or when
  ///   a guest can't be found; the `CKError` that stood in the way.
  public func share(
    _ layer: UUID, with guests: [LayerGuest], mayWrite: Bool = true
  ) async throws -> URL {
    let item = try ownLayer(layer)
    guard item.cloud != nil else { throw AnnotationError.notInCloud(layer) }
    return try await turns.pass {
      let generation = state.withLock { $0.generation }
      let database = container.privateCloudDatabase
      let root = try await attempt { try await database.record(for: item.recordID) }
      let share: CKShare
      if let reference = root.share {
        let known = try await attempt { try await database.record(for: reference.recordID) }
        guard let known = known as? CKShare else { throw AnnotationError.shareFailed }
        share = known
      } else {
        share = CKShare(rootRecord: root)
      }
      share[CKShare.SystemFieldKey.title] = item.fields.text("name") ?? "Shared layer"
      let permission: CKShare.ParticipantPermission = mayWrite ? .readWrite : .readOnly
      // Who is let in by the link must be said before people are invited: it ends invitations.
      if guests.contains(.anyoneWithLink) { share.publicPermission = permission }
      for guest in guests {
        guard let person = try await participant(guest) else { continue }
        person.permission = permission
        share.addParticipant(person)
      }
      let saved = try await attempt {
        try await database.modifyRecords(saving: [root, share], deleting: [])
      }
      for result in saved.saveResults.values { _ = try result.get() }
      guard let url = share.url else { throw AnnotationError.shareFailed }
      try remember(root, share, generation)
      return url
    }
  }

  /// Joins a layer that somebody shared, and fetches what is on it.
  ///
  /// - Throws: `AnnotationError.shareNotAccepted` when the link leads nowhere this account may go;
  ///   the `CKError` that stood in the way.
  public func accept(_ url: URL) async throws {
    do {
      let metadata = try await attempt { try await container.shareMetadata(for: url) }
      guard metadata.share.recordID.zoneID.zoneName == AnnotationZone.name else {
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

  /// Ends the sharing of a layer, or lets one person in no more.
  ///
  /// What is on the layer stays with its owner; with the others it goes at their next sync.
  /// - Parameter participant: whom to turn out; `nil` for everyone.
  /// - Throws: `AnnotationError` when the layer is somebody else's or not shared.
  public func revoke(_ layer: UUID, participant: LayerParticipant.ID? = nil) async throws {
    let item = try ownLayer(layer)
    try await turns.pass {
      let generation = state.withLock { $0.generation }
      let database = container.privateCloudDatabase
      let root = try await attempt { try await database.record(for: item.recordID) }
      guard let reference = root.share else { throw AnnotationError.notShared(layer) }
      guard let participant else {
        _ = try await attempt { try await database.deleteRecord(withID: reference.recordID) }
        let after = try await attempt { try await database.record(for: item.recordID) }
        return try remember(after, nil, generation, gone: reference.recordID.recordName)
      }
      guard
        let share = try await attempt({ try await database.record(for: reference.recordID) })
          as? CKShare,
        let person = share.participants.first(where: { $0.participantID == participant })
      else { throw AnnotationError.unknownPerson }
      share.removeParticipant(person)
      _ = try await attempt { try await database.save(share) }
      try remember(root, share, generation)
    }
  }

  /// Leaves a layer that somebody shared; its local copy goes.
  ///
  /// - Throws: `AnnotationError.notShared` when it is not somebody else's.
  public func leave(_ layer: UUID) async throws {
    let share = try state.withLock { state in
      guard let item = state.tables.item(layer, .layer) else {
        throw AnnotationError.notFound(layer)
      }
      guard item.owner != nil, let share = state.tables.share(of: item) else {
        throw AnnotationError.notShared(layer)
      }
      return share
    }
    let recordID = CKRecord.ID(
      recordName: share.name, zoneID: AnnotationZone.zoneID(share.owner))
    try await turns.pass {
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

  /// Who is in the share of a layer, the owner first; empty when it is not shared.
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

  private func participant(_ guest: LayerGuest) async throws -> CKShare.Participant? {
    do {
      switch guest {
      case .email(let address):
        return try await attempt { try await container.shareParticipant(forEmailAddress: address) }
      case .phone(let number):
        return try await attempt { try await container.shareParticipant(forPhoneNumber: number) }
      case .user(let name):
        let recordID = CKRecord.ID(recordName: name)
        return try await attempt {
          try await container.shareParticipant(forUserRecordID: recordID)
        }
      case .anyoneWithLink: return nil
      }
    } catch let error as CKError where error.code == .unknownItem {
      throw AnnotationError.unknownPerson
    }
  }

  /// Takes in what the cloud answered about a layer and its share.
  private func remember(
    _ root: CKRecord, _ share: CKShare?, _ generation: Int, gone: String? = nil
  ) throws {
    guard let arrival = try arrival(root) else { return }
    let date = moment()
    try transaction(in: generation) { tables in
      _ = tables.take(
        arrival.copy, arrival.id, arrival.kind, owner: nil,
        MergeRules(strategy: tables.settings.strategy, now: date))
      // The share of a record changes without a new tag.
      if var item = tables.items[arrival.id] {
        item.cloud?.share = share?.recordID.recordName
        tables.replace(item)
      }
      if let share {
        let known = ShareState(share, owner: nil)
        tables.setShare(known.key, known)
      }
      if let gone { tables.setShare(ShareState.key(gone, owner: nil), nil) }
    }
  }
}

extension ShareState {
  /// What is to be remembered of a share record.
  init(_ share: CKShare, owner: String?) {
    name = share.recordID.recordName
    self.owner = owner
    url = share.url
    let mine = share.currentUserParticipant?.permission
    permission = (owner == nil ? .readWrite : mine ?? share.publicPermission).rawValue
    publicPermission = share.publicPermission.rawValue
    people = share.participants.map { person in
      let name = person.userIdentity.nameComponents
      return Person(
        id: person.participantID, user: person.userIdentity.userRecordID?.recordName,
        name: [name?.givenName, name?.familyName].compactMap(\.self).joined(separator: " "),
        role: person.role.rawValue, permission: person.permission.rawValue,
        acceptance: person.acceptanceStatus.rawValue)
    }
  }

  /// Whether this account may change what is in it.
  var mayWrite: Bool { permission == CKShare.ParticipantPermission.readWrite.rawValue }
}
