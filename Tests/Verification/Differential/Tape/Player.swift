import CloudProtocol
import Records
import SimulationSupport

/// The device, the database and the zone of a request.
struct Site {
  let device: Device
  let scope: DatabaseScope
  let zone: ZoneID

  /// The name in a trace.
  var label: String { scope == .private ? device.name : "\(device.name) \(scope)" }
}

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
  var situations: [String: Int] = [:]
  var names = SeenNames()
  /// The user names of the accounts.
  var users: [String: UserID] = [:]
  /// The tags that were seen of each record, oldest first.
  var tags: [SeenNames.Place: [ChangeTag]] = [:]
  /// Places in feeds that were come to, with what a device there holds.
  var bookmarks: [Bookmark] = []
  /// The last mutation of each device, to be sent again.
  var last: [Device: CloudCall] = [:]
  /// The shares that each account saw, as it saw them.
  var shares: [String: [RecordID: Record]] = [:]
  /// The assets that were seen in records, newest last.
  var assets: [SeenAsset] = []
  let theme: Theme
  /// The fields that the feeds of this tape contain.
  let feedFields: FieldSelection
  private var requests = 0
  var fillings = 0

  static let zones = ["A", "B", "C"].map { ZoneID(name: $0) }
  static let recordNames = (0..<9).map { "r\($0)" }

  init(_ cloud: any Cloud, seed: UInt64) {
    self.cloud = cloud
    container = "iCloud.example.tape\(seed)"
    random = SeededRandom(seed: seed)
    theme = random.pick([.records, .records, .sharing, .sharing, .everyone, .services])
    feedFields = random.pick([.all, .all, .all, .keys(["n", "t"]), .none])
  }

  /// Plays `count` steps, and in the end looks at everything that is left.
  mutating func play(steps count: Int) async throws -> [Transcript.Line] {
    for device in Device.all {
      guard case .success(.currentUser(let user)) = await send(.fetchCurrentUser, from: device)
      else { continue }
      names.accounts[user.rawValue] = device.account
      users[device.account] = user
    }
    for account in Device.accounts {
      _ = try await cloud.administer(.quota(spare: nil), container: container, account: account)
    }
    await modifyZones(site(Device.all[0]), ModifyZones(save: Player.zones))
    await modifyZones(site(Device.all[2]), ModifyZones(save: Player.zones))
    for _ in 0..<count {
      try await step()
      await notePushes()
    }
    for account in Device.accounts {
      _ = try await cloud.administer(.quota(spare: nil), container: container, account: account)
    }
    for device in [Device.all[1], Device.all[2]] { await lookAtAll(device) }
    return transcript
  }

  private mutating func lookAtAll(_ device: Device) async {
    for scope in [DatabaseScope.private, .shared] {
      let site = Site(device: device, scope: scope, zone: .default)
      await fetchZones(site, nil)
      await drainDatabase(site, from: nil)
    }
    for zone in Player.zones {
      await drain(site(device, zone), from: nil)
      for other in Device.accounts where other != device.account {
        await drain(visit(device, to: other, zone), from: nil)
      }
    }
    let ids = Player.recordNames.prefix(Limits.items)
    for scope in [DatabaseScope.private, .public] {
      await read(Site(device: device, scope: scope, zone: .default), ids.map { id($0, .default) })
    }
  }

  private mutating func step() async throws {
    let weights = theme.steps
    var draw = random.below(weights.reduce(0) { $0 + $1.1 })
    let step =
      weights.first { entry in
        draw -= entry.1
        return draw < 0
      }?.0 ?? .modify
    situations[step.rawValue, default: 0] += 1
    let site = randomSite()
    names.home = site.scope == .public ? Device.publicHome : site.device.account
    names.asker = site.device.account
    switch step {
    case .modify: await modify(site, randomBatch(site))
    case .again: await sendAgain(site.device)
    case .zones: await modifyZones(site, randomZones(site))
    case .page: await page(site)
    case .drain: await drain(site, from: randomBookmark())
    case .drainDatabase: await drainDatabase(site, from: randomBookmark())
    case .read:
      await read(
        site, (0...random.below(4)).map { _ in id(random.pick(Player.recordNames), site.zone) })
    case .query: await query(site)
    case .list: await fetchZones(site, random.chance(0.5) ? nil : [site.zone] + Player.zones)
    case .administer: try await administer(site.device.account)
    case .quota: try await fillQuota(site)
    case .upload: await upload(site)
    case .download: await download(site)
    case .copyAsset: await copyAsset(site)
    case .subscribe: await subscribe(site)
    case .subscriptions: await fetchSubscriptions(site)
    case .makeShare: await makeShare(site)
    case .changeShare: await changeShare(site)
    case .endShare: await endShare(site)
    case .resolve: await resolve(site.device)
    case .accept: await accept(site.device)
    case .guest: await askAsGuest()
    }
  }

  func id(_ name: String, _ zone: ZoneID) -> RecordID { RecordID(name: name, zone: zone) }

  mutating func count(_ situation: Situation) { situations[situation.rawValue, default: 0] += 1 }

  private mutating func administer(_ account: String) async throws {
    let zone = random.pick(Player.zones)
    let acts: [Act] = [
      .end(zone, .deleted), .end(zone, .purged), .end(zone, .encryptedDataReset),
      .expireTokens(zone), .expireTokens(nil), .trim(zone), .trim(zone), .trim(nil),
    ]
    let act = random.pick(acts)
    do {
      _ = try await cloud.administer(act, container: container, account: account)
      note("administer \(account) \(act)", "done")
    } catch {
      note("administer \(account) \(act)", "done")
    }
  }

  /// Sends a request under a name of its own, from `device`.
  mutating func send(
    _ request: CloudRequest, from device: Device, in scope: DatabaseScope = .private
  ) async -> Result<CloudReply, CloudError> {
    requests += 1
    names.home = scope == .public ? Device.publicHome : device.account
    names.asker = device.account
    let call = CloudCall(
      container: container, database: scope, requestID: "\(container)-\(requests)",
      request: request)
    if request.isMutation { last[device] = call }
    return await cloud.send(call, from: device)
  }

  /// Takes down what came, and what only servers must agree about.
  mutating func note(_ asked: String, _ came: String, among servers: String = "") {
    transcript.append(Transcript.Line(asked: asked, came: came, amongServers: servers))
  }
}
