import CloudProtocol
import Records

/// Resolving and accepting shares by URL, and finding users.
///
/// The database of the request is ignored; the share's database is found by its URL.
extension CloudMachine {
  /// A share found by its URL, with the requester's participant.
  fileprivate struct FoundShare {
    var address: ShareAddress
    var row: RecordRow
    var record: Record
    var details: ShareDetails
    var owner: AccountRow
    var requester: AccountRow
    var participant: ShareParticipant

    var isOwner: Bool { requester.user == owner.user }
  }

  /// Resolves share URLs for users who may join.
  func resolveShares(_ request: ResolveShares, _ context: RequestContext) throws -> CloudReply {
    try refuse(itemCount: request.urls.count)
    let fields = try request.rootFields.map(selected)
    let transaction = WriteTransaction()
    var bytes = 0
    return .sharesResolved(
      try request.urls.map { url in
        try ItemResult(url) {
          try refuse(replyBytes: bytes)
          return try metadata(find(url, transaction, context), fields, &bytes, context)
        }
      })
  }

  /// Accepts shares: marks the requester as accepted and adds the zone to the requester's shared
  /// database.
  ///
  /// Accepting a share again, or one's own share, succeeds without changes.
  func acceptShares(_ urls: [String], _ context: RequestContext) throws -> (
    CloudReply, WriteTransaction
  ) {
    try refuse(itemCount: urls.count)
    let homes = Set(try urls.compactMap { try ShareAddress.find($0, context)?.home })
    try context.storage.foresee { ReadPlan(changing: homes) }
    var transaction = WriteTransaction()
    let results = try urls.map { url in
      try ItemResult(url) {
        let found = try find(url, transaction, context)
        return found.spelled(try accept(found, &transaction, context))
      }
    }
    return (.sharesAccepted(results), transaction)
  }

  /// Finds the users with these email addresses, phone numbers or user record names.
  func findUsers(_ lookups: [UserLookup], _ context: RequestContext) throws -> CloudReply {
    try refuse(itemCount: lookups.count)
    return .usersFound(
      try lookups.map { lookup in
        try ItemResult(lookup) {
          guard let account = try context.account(for: lookup) else {
            throw Refusal(.unknownItem, "no account belongs to this person")
          }
          return context.identity(of: account, lookup: lookup)
        }
      })
  }

  private func find(
    _ url: String, _ transaction: WriteTransaction, _ context: RequestContext
  ) throws -> FoundShare {
    guard let requester = context.account, let address = try ShareAddress.find(url, context),
      let user = address.home.owner, let owner = try context.storage.account(user),
      let zone = try transaction.zone(address.share.zone, in: address.home, context),
      zone.deletion == nil,
      let row = try transaction.share(address.share, in: address.home, context),
      let record = row.record, let details = record.sharing, details.url == url
    else { throw Refusal(.unknownItem, "no share has this URL, or it was removed") }
    let rules = ShareRules(context: context, owner: owner)
    return FoundShare(
      address: address, row: row, record: record, details: details, owner: owner,
      requester: requester, participant: try rules.participant(of: requester, in: details))
  }

  private func metadata(
    _ found: FoundShare, _ fields: SelectedFields?, _ bytes: inout Int, _ context: RequestContext
  ) throws -> ShareMetadata {
    bytes += found.record.byteCount
    var root: Record?
    if let id = found.details.root, let fields {
      root = try context.storage.record(id, in: found.address.home)?.record
      bytes += root?.byteCount ?? 0
      if let all = root?.fields { root?.fields = fields.applied(to: all) }
    }
    if !found.isOwner { root?.parent = nil }
    let share = found.spelled(found.record)
    return ShareMetadata(
      container: context.database.container, share: share, rootID: share.sharing?.root,
      root: root.map { found.spelled($0) }, owner: context.identity(of: found.owner),
      role: found.participant.role, acceptance: found.participant.acceptance,
      permission: found.participant.permission)
  }

  private func accept(
    _ found: FoundShare, _ transaction: inout WriteTransaction, _ context: RequestContext
  ) throws -> Record {
    if found.isOwner || found.participant.acceptance == .accepted { return found.record }
    var details = found.details
    var joining = found.participant
    joining.acceptance = .accepted
    joining.identity = context.identity(of: found.requester, lookup: joining.identity.lookup)
    if let index = details.participants.firstIndex(where: { $0.id == joining.id }) {
      details.participants[index] = joining
    } else {
      guard details.participants.count - 1 < limits.shareParticipants else {
        throw Refusal(
          .tooManyParticipants, "a share takes at most \(limits.shareParticipants) participants")
      }
      details.participants.append(joining)
    }
    let home = found.address.home
    guard var zone = try transaction.zone(found.address.share.zone, in: home, context) else {
      throw Refusal.missingZone
    }
    let position = try transaction.open(home, context)
    let sequence = transaction[position].nextSequence()
    var row = found.row
    var record = found.record
    record.sharing = details
    record.stamp(sequence, transaction[position].time, context)
    row.record = record
    row.changedAt = sequence
    row.device = context.device
    transaction.put(share: row, at: position)
    zone.changedAt = sequence
    let change = ShareChange(
      name: row.id.name, old: found.details, new: details, sequence: sequence)
    try transaction.notifyViewers(
      of: &zone, in: home, written: [row], since: sequence, changes: [change], context)
    transaction.put(zone, at: position)
    transaction[position].note(ChangeSet.ZoneEvent(zone: zone.id, types: [row.type]))
    return record
  }
}

extension CloudMachine.FoundShare {
  /// A record of the owner's rows in the requester's spelling.
  fileprivate func spelled(_ record: Record) -> Record {
    var spelled = isOwner ? record : record.outward(owner: owner.user, requester: requester.user)
    let isIn = spelled.sharing?.participants.contains { $0.id == participant.id } ?? false
    if isIn { spelled.sharing?.currentParticipant = participant.id }
    return spelled
  }
}
