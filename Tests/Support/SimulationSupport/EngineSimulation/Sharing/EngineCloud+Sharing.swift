import CloudProtocol
import Records
import Synchronization

/// Shares as people make and change them, on a device that knows what the server holds.
extension EngineCloud {
  /// One action about a share: what is asked of the server, one after the other.
  struct SharingRequest: Sendable {
    var database = DatabaseScope.private
    var requests: [CloudRequest]
    /// The account that asks.
    var account: Int
    /// The accounts it concerns.
    var accounts: [Int]
  }

  /// The server's records for an account in one of its databases, by place.
  func records(for account: Int, _ scope: DatabaseScope) -> [Record?] {
    contents.withLock { contents in
      guard scope == .shared else {
        return contents.oracle.databases[account - 1].entries.map(\.record)
      }
      return layout.records.indices.map { place in
        contents.oracle.visible(layout.zone(of: place), account, scope)?[place]
      }
    }
  }

  /// The time of the last change of a shared zone, as an account sees it.
  func visitChange(of zone: Int, for account: Int) -> Int {
    contents.withLock { $0.oracle.sharing?.visits[account - 1][zone].changedAt ?? 0 }
  }

  /// The number of times that each outcome in shared zones happened, for the tally.
  var sharingCounts: [String: Int] {
    contents.withLock { $0.oracle.sharing?.counts ?? [:] }
  }

  /// The requests of `action`; `nil` if there is nothing to do.
  ///
  /// - Parameter sequence: The number of the edit that makes the root of a tree.
  func request(
    for action: SharingAction, in zone: Int, sequence: Int, _ random: inout SeededRandom
  ) -> SharingRequest? {
    let oracle = contents.withLock { $0.oracle }
    guard let sharing = oracle.sharing else { return nil }
    let owner = SharingOptions.owner
    let others = Array(2...layout.users.count)
    guard let share = sharing.shares[zone] else {
      guard action == .share else { return nil }
      return newShare(of: zone, oracle.databases[owner - 1], others, sequence, &random)
    }
    let members = others.filter { sharing.participant($0, in: zone) != nil }
    switch action {
    case .share: return nil
    case .accept:
      guard let url = share.details.url else { return nil }
      let account = random.pick(others)
      return SharingRequest(
        requests: [.acceptShares([url])], account: account, accounts: [account])
    case .permit, .revoke:
      var details = share.details
      guard change(&details, action, others, &random) else { return nil }
      return SharingRequest(
        requests: [.modifyRecords(save(details, as: share.record))], account: owner,
        accounts: members)
    case .leave:
      guard !members.isEmpty else { return nil }
      let account = random.pick(members)
      let id = RecordID(
        name: layout.share(of: zone).name,
        zone: ZoneID(name: layout.zones[zone].name, owner: layout.users[owner - 1].rawValue))
      return SharingRequest(
        database: .shared, requests: [.modifyRecords(ModifyRecords(delete: [id]))],
        account: account, accounts: [account])
    case .unshare:
      return SharingRequest(
        requests: [.modifyRecords(ModifyRecords(delete: [layout.share(of: zone)]))],
        account: owner, accounts: members)
    }
  }

  private func newShare(
    of zone: Int, _ home: CloudOracle.Database, _ others: [Int], _ sequence: Int,
    _ random: inout SeededRandom
  ) -> SharingRequest? {
    let root = layout.places(of: zone).lowerBound
    let isTree = layout.treeSize(of: zone) > 0
    var details = ShareDetails(root: isTree ? layout.records[root] : nil)
    let permission: SharePermission = random.chance(0.75) ? .readWrite : .readOnly
    if random.chance(0.5) {
      details.publicPermission = permission
    } else {
      for account in others where random.chance(0.8) {
        details.participants.append(invited(account, permission))
      }
    }
    var save: [RecordSave] = []
    var requests: [CloudRequest] = []
    if !home.zones[zone].isLive {
      requests.append(.modifyZones(ModifyZones(save: [layout.zones[zone]])))
    }
    if isTree {
      let record = home.entries[root].record
      let value = SimulatedValue(
        account: SharingOptions.owner, device: 0, sequence: sequence, place: root)
      save.append(
        RecordSave(
          id: layout.records[root], type: SimulatedValue.recordType,
          changeTag: record?.changeTag, changes: record == nil ? value.changes : []))
    }
    save.append(
      RecordSave(
        id: layout.share(of: zone), type: ShareDetails.recordType, changes: [], sharing: details))
    requests.append(.modifyRecords(ModifyRecords(save: save)))
    return SharingRequest(
      requests: requests, account: SharingOptions.owner, accounts: others)
  }

  /// Changes who is in a share and what they may do; returns whether there was anything to change.
  private func change(
    _ details: inout ShareDetails, _ action: SharingAction, _ others: [Int],
    _ random: inout SeededRandom
  ) -> Bool {
    let account = random.pick(others)
    let index = details.participants.firstIndex {
      $0.identity.user == layout.users[account - 1] && $0.role != .owner
    }
    let isPublic = details.publicPermission != .none
    if action == .revoke {
      if isPublic {
        details.publicPermission = .none
        details.participants.removeAll { $0.role != .owner }
      } else {
        guard let index else { return false }
        details.participants.remove(at: index)
      }
    } else if isPublic {
      details.publicPermission = details.publicPermission.other
    } else if let index {
      details.participants[index].permission = details.participants[index].permission.other
    } else {
      details.participants.append(invited(account, random.chance(0.6) ? .readWrite : .readOnly))
    }
    return true
  }

  private func save(_ details: ShareDetails, as record: Record) -> ModifyRecords {
    ModifyRecords(save: [
      RecordSave(
        id: record.id, type: record.type, changeTag: record.changeTag, changes: [],
        sharing: details)
    ])
  }

  private func invited(_ account: Int, _ permission: SharePermission) -> ShareParticipant {
    ShareParticipant(
      id: "participant\(account)", identity: UserIdentity(user: layout.users[account - 1]),
      permission: permission)
  }
}

extension SharePermission {
  /// The other of the two permissions of a participant.
  fileprivate var other: SharePermission { self == .readOnly ? .readWrite : .readOnly }
}
