import CloudProtocol
import Records
import SimulationSupport

/// An asset that was seen in a record.
struct SeenAsset {
  let site: Site
  let id: RecordID
  let key: String
  let asset: Asset
}

/// Files and quotas.
extension Player {
  /// Uploads a file and saves a record with it, now and then with a receipt for something else.
  mutating func upload(_ site: Site) async {
    let size = random.chance(0.1) ? Limits.assetBytes + 1 : 1 + random.below(Limits.assetBytes)
    let content = [UInt8](repeating: UInt8(random.below(4)), count: size)
    let target = id(random.pick(Player.recordNames), site.zone)
    var save = randomSave(target)
    let uploaded = random.chance(0.05) ? "Other" : save.type
    let key = random.chance(0.05) ? "g" : "f"
    let request = UploadAsset(recordType: uploaded, key: key, content: content)
    let answer = await send(.uploadAsset(request), from: site.device, in: site.scope)
    let asked = "\(site.label) upload \(size) of \(content[0]) for \(uploaded).\(key)"
    guard case .success(.assetUploaded(var asset)) = answer else {
      if case .failure(let error) = answer, error.code == .limitExceeded { count(.uploadTooLarge) }
      return note(asked, describe(failure: answer))
    }
    names.files[asset.checksum] = "file \(content[0])x\(size)"
    note(asked, names.describe(.asset(asset)))
    switch random.below(20) {
    case 0: asset.receipt = nil
    case 1: asset.receipt = "never given"
    case 2: asset.checksum = String(asset.checksum.reversed())
    default: break
    }
    save.changes.append(.init(key: "f", field: Field(.asset(asset))))
    save.changes.sort { $0.key < $1.key }
    await modify(site, ModifyRecords(save: [save], isAtomic: random.chance(0.5)))
    if transcript.last?.came.contains("f=file") == true { count(.assetSaved) }
  }

  /// Asks for the content of an asset that was seen, which may be another by now.
  mutating func download(_ site: Site) async {
    guard !assets.isEmpty else { return }
    let seen = assets[max(0, assets.count - 1 - random.below(8))]
    let isWrong = random.chance(0.1)
    let request = DownloadAsset(
      record: seen.id, key: random.chance(0.05) ? "g" : seen.key,
      checksum: isWrong ? String(seen.asset.checksum.reversed()) : seen.asset.checksum)
    let device = random.chance(0.8) ? seen.site.device : site.device
    let answer = await send(.downloadAsset(request), from: device, in: seen.site.scope)
    let asked =
      "\(device.name) \(seen.site.scope) download \(names.name(seen.id.zone))/\(seen.id.name)"
      + ".\(request.key) \(names.describe(.asset(seen.asset)))\(isWrong ? " reversed" : "")"
    guard case .success(.assetContent(let content)) = answer else {
      count(.downloadRefused)
      return note(asked, describe(failure: answer))
    }
    count(.downloaded)
    note(asked, "\((try? content.bytes()) ?? [])")
  }

  /// Saves an asset that was read: into another record, which needs a receipt, or under another
  /// field of its own record, which does not.
  mutating func copyAsset(_ site: Site) async {
    guard !assets.isEmpty else { return }
    let seen = assets[max(0, assets.count - 1 - random.below(8))]
    let isSame = random.chance(0.6)
    let target = isSame ? seen.id : id(random.pick(Player.recordNames), seen.id.zone)
    names.home = seen.site.scope == .public ? Device.publicHome : seen.site.device.account
    let number = Player.recordNames.firstIndex(of: target.name) ?? 0
    var save = RecordSave(
      id: target, type: number < 6 ? "Note" : "Task",
      changeTag: tags[names.place(target)]?.last,
      changes: [.init(key: "g", field: Field(.asset(seen.asset)))])
    save.policy = .changedKeys
    await modify(seen.site, ModifyRecords(save: [save]))
    if transcript.last?.came.contains("g=file") == true { count(.assetReused) }
  }

  /// Leaves the account a little room, and saves a record of exactly fifteen bytes.
  mutating func fillQuota(_ site: Site) async throws {
    let spare = random.pick([nil, nil, nil, 0, 14, 15, 15, 16, 40, 100])
    let account = site.device.account
    let act = Act.quota(spare: spare)
    note(
      "administer \(account) \(act)",
      try await cloud.administer(act, container: container, account: account))
    fillings += 1
    // Name, type, key and number: 2 + 4 + 1 + 8.
    let target = id("q\(fillings % 10)", site.zone)
    let save = RecordSave(
      id: target, type: "Note", changes: [.init(key: "n", field: Field(.int64(1)))])
    await modify(
      Site(
        device: site.device, scope: site.scope == .public ? .private : site.scope, zone: site.zone),
      ModifyRecords(save: [save]))
    if spare == 15, transcript.last?.came.contains("never changed") == true {
      count(.quotaFilled)
    }
  }
}
