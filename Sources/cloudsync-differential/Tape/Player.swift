import CloudProtocol
import CloudSyncTesting
import Records

/// Plays the tape of one seed to one cloud and takes down what came.
///
/// What is asked next depends on the seed and on what was seen before: so two clouds that answer
/// alike are asked alike, and the first difference is where their transcripts part. Tags, tokens,
/// users and times are written as what they are to an app: the how-manieth, whose, the same or
/// another.
struct Player {
  let cloud: any Cloud
  let container: String
  var random: SeededRandom
  var transcript: [Transcript.Line] = []
  var names = SeenNames()
  /// What each account saw of each record: its tags, oldest first.
  var tags: [String: [RecordID: [ChangeTag]]] = [:]
  /// Places in feeds that were come to, with what a device there holds.
  var bookmarks: [Bookmark] = []
  /// The last mutation of each device, to be sent again.
  var last: [Device: CloudCall] = [:]
  private var requests = 0

  static let zones = ["A", "B", "C"].map { ZoneID(name: $0) }
  static let recordNames = (0..<9).map { "r\($0)" }

  init(_ cloud: any Cloud, seed: UInt64) {
    self.cloud = cloud
    container = "iCloud.example.tape\(seed)"
    random = SeededRandom(seed: seed)
  }

  /// Plays `count` steps, and in the end looks at everything that is left.
  mutating func play(steps count: Int) async throws -> [Transcript.Line] {
    for account in Device.accounts {
      guard let device = Device.all.first(where: { $0.account == account }) else { continue }
      if case .success(.currentUser(let user)) = await send(.fetchCurrentUser, from: device) {
        names.accounts[user.rawValue] = account
      }
    }
    await modifyZones(Device.all[0], ModifyZones(save: Player.zones))
    await modifyZones(Device.all[2], ModifyZones(save: [Player.zones[0]]))
    for _ in 0..<count { try await step() }
    for device in [Device.all[1], Device.all[2]] {
      await fetchZones(device, nil)
      await drainDatabase(device, from: nil)
      for zone in Player.zones { await drain(zone, device, from: nil) }
      await read(device, Player.recordNames.prefix(Limits.items).map { id($0, .default) })
    }
    return transcript
  }

  private mutating func step() async throws {
    // Alice's devices do most, so that they meet.
    let device = random.chance(0.85) ? random.pick([Device.all[0], Device.all[1]]) : Device.all[2]
    names.account = device.account
    switch random.below(100) {
    case 0..<46: await modify(device, randomBatch(device))
    case 46..<52: await sendAgain(device)
    case 52..<58: await modifyZones(device, randomZones())
    case 58..<66: await page(randomFeed(), device)
    case 66..<76: await drain(randomZone(), device, from: randomBookmark())
    case 76..<82: await drainDatabase(device, from: randomBookmark())
    case 82..<88:
      let zone = randomZone()
      await read(
        device, (0...random.below(4)).map { _ in id(random.pick(Player.recordNames), zone) })
    case 88..<93: await query(device)
    case 93..<95: await fetchZones(device, random.chance(0.5) ? nil : Player.zones)
    default: try await administer(device.account)
    }
  }

  func id(_ name: String, _ zone: ZoneID) -> RecordID { RecordID(name: name, zone: zone) }

  /// A zone, now and then the default one.
  mutating func randomZone() -> ZoneID {
    random.chance(0.12)
      ? .default : random.chance(0.6) ? Player.zones[0] : random.pick(Player.zones)
  }

  private mutating func randomFeed() -> ZoneID {
    random.chance(0.03) ? .default : random.pick(Player.zones)
  }

  private mutating func randomZones() -> ModifyZones {
    let zone = random.pick(Player.zones)
    switch random.below(10) {
    case 0..<6: return ModifyZones(save: [zone])
    case 6..<9: return ModifyZones(delete: [zone])
    default: return ModifyZones(save: [zone, .default], delete: [random.pick(Player.zones)])
    }
  }

  private mutating func administer(_ account: String) async throws {
    let zone = random.pick(Player.zones)
    let acts: [Act] = [
      .end(zone, .deleted), .end(zone, .purged), .end(zone, .encryptedDataReset),
      .expireTokens(zone), .expireTokens(nil), .trim(zone), .trim(zone), .trim(nil),
    ]
    let act = random.pick(acts)
    do {
      try await cloud.administer(act, container: container, account: account)
      note("administer \(account) \(act)", "done")
    } catch {
      note("administer \(account) \(act)", "done")
    }
  }

  /// Sends a request under a name of its own, from `device`.
  mutating func send(
    _ request: CloudRequest, from device: Device
  ) async -> Result<CloudReply, CloudError> {
    requests += 1
    names.account = device.account
    let call = CloudCall(
      container: container, database: .private, requestID: "\(container)-\(requests)",
      request: request)
    if request.isMutation { last[device] = call }
    return await cloud.send(call, from: device)
  }

  /// Takes down what came, and what only servers must agree about.
  mutating func note(_ asked: String, _ came: String, among servers: String = "") {
    transcript.append(Transcript.Line(asked: asked, came: came, amongServers: servers))
  }
}
