import CloudProtocol
import Records
import SimulationSupport

/// Shares: made, changed, ended, joined and left.
extension Player {
  /// Shares a hierarchy, mostly with its root in the same request, or the whole zone.
  mutating func makeShare(_ site: Site) async {
    let isWide = random.chance(0.2)
    let root = id(random.pick(Array(Player.recordNames.prefix(4))), site.zone)
    let name = isWide ? ShareDetails.zoneWideName : "s\(random.below(3))"
    let target = id(name, site.zone)
    var details = ShareDetails(root: isWide ? nil : root)
    let isOpen = random.chance(0.3)
    if isOpen { details.publicPermission = random.pick([.readOnly, .readWrite]) }
    if !isOpen || random.chance(0.1) { invite(&details, from: site.device.account) }
    if random.chance(0.15) { invite(&details, from: site.device.account) }
    var share = RecordSave(
      id: target, type: ShareDetails.recordType, changes: [], sharing: details)
    if random.chance(0.1) { share.changeTag = tags[names.place(target)]?.last }
    var request = ModifyRecords(save: [share], isAtomic: random.chance(0.7))
    if !isWide, random.chance(0.93) {
      var save = RecordSave(
        id: root, type: "Note", changeTag: tags[names.place(root)]?.last,
        changes: [.init(key: "n", field: Field(.int64(Int64(random.below(6)))))])
      if random.chance(0.7) { save.policy = .changedKeys }
      request.save.insert(save, at: 0)
    } else if !isWide {
      count(.shareWithoutRoot)
    }
    await modify(site, request)
    let others = Device.all.filter { $0.account != site.device.account && !$0.account.isEmpty }
    let other = random.pick(others)
    let label = "\(site.device.account)/\(site.zone.name)/\(isWide ? "" : root.name)"
    if random.chance(0.6), let url = names.urls[label] { await accept(other, label, url) }
  }

  private mutating func invite(_ details: inout ShareDetails, from account: String) {
    let other = account == "alice" ? "bob" : "alice"
    let identity: UserIdentity =
      switch random.below(10) {
      case 0..<5: UserIdentity(lookup: .email("\(other)@example.com"))
      case 5..<8: UserIdentity(user: users[other])
      case 8: UserIdentity(lookup: .email("carol@example.com"), hasAccount: false)
      default:
        random.chance(0.3)
          ? UserIdentity(lookup: .user(UserID("_nobody"))) : UserIdentity(user: users[other])
      }
    details.participants.append(
      ShareParticipant(
        id: "p\(details.participants.count)", identity: identity,
        permission: random.pick([.readOnly, .readWrite, .readWrite, .none])))
  }

  /// A share that the account saw, its own or another's.
  private mutating func randomShare(_ account: String) -> Record? {
    let known = (shares[account] ?? [:]).sorted {
      (names.name($0.key.zone), $0.key.name) < (names.name($1.key.zone), $1.key.name)
    }
    return known.isEmpty ? nil : random.pick(known.map(\.value))
  }

  private func site(of record: Record, _ device: Device) -> Site {
    let isOwn = record.id.zone.owner == ZoneID.currentOwner
    return Site(device: device, scope: isOwn ? .private : .shared, zone: record.id.zone)
  }

  mutating func changeShare(_ site: Site) async {
    guard let share = randomShare(site.device.account), var details = share.sharing else { return }
    let others = details.participants.indices.filter { details.participants[$0].role != .owner }
    switch random.below(9) {
    case 0..<3:
      for index in others {
        details.participants[index].permission = random.pick([.readOnly, .readWrite, .none])
      }
    case 3: details.participants.removeAll { $0.role != .owner }
    case 4, 5: invite(&details, from: site.device.account)
    case 6: details.publicPermission = random.pick([.readOnly, .readWrite])
    case 7: details.publicPermission = .none
    default: break
    }
    var save = RecordSave(
      id: share.id, type: share.type, changeTag: share.changeTag, changes: [], sharing: details)
    if random.chance(0.9) { save.changeTag = tags[names.place(share.id)]?.last }
    await modify(self.site(of: share, site.device), ModifyRecords(save: [save]))
  }

  /// Deletes a share: the owner ends it, a participant leaves it.
  mutating func endShare(_ site: Site) async {
    guard let share = randomShare(site.device.account) else { return }
    let place = self.site(of: share, site.device)
    if place.scope == .shared, random.chance(0.25) {
      return await modifyZones(place, ModifyZones(delete: [share.id.zone]))
    }
    await modify(place, ModifyRecords(delete: [share.id]))
  }

  /// A URL that was seen, mostly of another's share.
  private mutating func randomURL(_ account: String) -> (label: String, url: String) {
    let isOwn = random.chance(0.2)
    let known = names.urls.filter { $0.key.hasPrefix("\(account)/") == isOwn }
      .sorted { $0.key < $1.key }
    guard !known.isEmpty, random.chance(0.95) else {
      return ("no share", "\(ShareMetadata.urlPrefix)0123")
    }
    let picked = random.pick(known.map(\.key))
    return (picked, names.urls[picked] ?? "")
  }

  mutating func resolve(_ device: Device) async {
    let (label, url) = randomURL(device.account)
    let fields: FieldSelection? = random.pick([nil, .all, .keys(["n"])])
    let answer = await send(
      .resolveShares(ResolveShares(urls: [url], rootFields: fields)), from: device)
    let asked = "\(device.name) resolve \(label)"
    guard case .success(.sharesResolved(let results)) = answer, let result = results.first else {
      return note(asked, describe(failure: answer))
    }
    switch result.outcome {
    case .failure(let error): note(asked, names.describe(error))
    case .success(let found):
      let root = found.root.map { names.describe($0) } ?? "no root"
      note(
        asked,
        "\(names.name(found.owner)) \(found.role) \(found.acceptance) \(found.permission) "
          + "\(found.rootID?.name ?? "zone") \(root) \(names.describe(found.share))")
    }
  }

  mutating func accept(_ device: Device) async {
    let (label, url) = randomURL(device.account)
    await accept(device, label, url)
  }

  private mutating func accept(_ device: Device, _ label: String, _ url: String) async {
    let answer = await send(.acceptShares([url]), from: device)
    let asked = "\(device.name) accept \(label)"
    guard case .success(.sharesAccepted(let results)) = answer, let result = results.first else {
      return note(asked, describe(failure: answer))
    }
    switch result.outcome {
    case .failure(let error):
      switch error.code {
      case .permissionFailure: count(.notInvited)
      case .participantMayNeedVerification: count(.needsVerification)
      case .unknownItem: count(.unknownShare)
      default: break
      }
      note(asked, names.describe(error))
    case .success(let share):
      count(.accepted)
      see(share, site(of: share, device))
      note(asked, "\(names.name(share.id.zone)) \(names.describe(share))")
    }
  }
}
