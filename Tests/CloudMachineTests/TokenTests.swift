import CloudMachine
import CloudProtocol
import Records
import Testing

/// Tokens are refused rather than misread (I10), and trimming loses nobody a deletion (I8).
struct TokenTests {
  private func words(
    _ world: World, _ token: ChangeToken, zone: ZoneID = World.zone, as caller: Caller? = nil,
    container: String = World.container, environment: CloudEnvironment = .development
  ) throws -> String {
    try world.ask(
      .fetchZoneChanges(FetchZoneChanges(zone: zone, since: token)), as: caller,
      container: container, environment: environment
    ).result.words
  }

  /// Proves I10.
  @Test("A token with any flipped bit or any other length is refused")
  func damagedTokenIsRefused() throws {
    let world = try World()
    _ = try world.modify([fresh("a")])
    for token in [try world.page().token, try world.databasePage().token] {
      let isZone = try words(world, token) == ""
      func ask(_ bytes: [UInt8]) throws -> String {
        let token = ChangeToken(bytes: bytes)
        return isZone
          ? try words(world, token)
          : try world.say(.fetchDatabaseChanges(FetchDatabaseChanges(since: token)))
      }
      var accepted = 0
      for index in token.bytes.indices {
        for bit in 0..<8 as Range<UInt8> {
          var bytes = token.bytes
          bytes[index] ^= 1 << bit
          if try ask(bytes) != "! changeTokenExpired" { accepted += 1 }
        }
        if try ask(Array(token.bytes[..<index])) != "! changeTokenExpired" { accepted += 1 }
        if try ask(token.bytes + [UInt8](repeating: 0, count: index + 1))
          != "! changeTokenExpired"
        {
          accepted += 1
        }
      }
      #expect(accepted == 0)
    }
  }

  /// Proves CS-35, CS-148, I10, WS-61.
  @Test(
    "A token of another feed is refused, whichever part of its origin differs"
  )
  func tokenOfOtherFeedIsRefused() throws {
    let second = ZoneID(name: "Y")
    let world = try World(zones: [World.zone, second])
    _ = try world.modify([fresh("a")])
    let token = try world.page().token
    #expect(try words(world, token) == "")
    let expired = "! changeTokenExpired"
    #expect(try words(world, token, as: world.stranger) == expired)
    #expect(try words(world, token, zone: second) == expired)
    #expect(try words(world, try world.databasePage().token) == expired)
    #expect(
      try world.say(.fetchDatabaseChanges(FetchDatabaseChanges(since: token))) == expired)
    let zones = CloudRequest.modifyZones(ModifyZones(save: [World.zone]))
    for (container, environment) in [
      ("iCloud.other", CloudEnvironment.development), (World.container, .production),
    ] {
      _ = try world.ask(zones, container: container, environment: environment)
      #expect(
        try words(world, token, container: container, environment: environment) == expired)
    }
    let other = try World()
    other.storage = MemoryStorage(identity: 8)
    try other.machine.createAccount("alice", in: other.storage)
    _ = try other.say(zones)
    _ = try other.modify([fresh("a")])
    #expect(other.alice == world.alice)
    #expect(try words(other, token) == expired)
    // From the future: the storage went back to an earlier state.
    let earlier = world.storage.snapshot()
    _ = try world.modify([fresh("b")])
    let later = try world.page().token
    world.storage.restore(earlier)
    #expect(try words(world, later) == expired)
    #expect(try words(world, token) == "")
    // A new life of the zone.
    _ = try world.say(.modifyZones(ModifyZones(delete: [World.zone])))
    #expect(try words(world, token) == "! zoneNotFound")
    _ = try world.say(zones)
    #expect(try words(world, token) == expired)
    #expect(try world.page().words == "")
  }

  /// Proves CS-146, I8, SC-148.
  @Test("After tokens expire or tombstones are trimmed, a paged refetch works and ends")
  func refetchAfterTrimmingCompletes() throws {
    let world = try World()
    _ = try world.modify((0..<10).map { fresh("r\($0)") })
    let old = try world.page().token
    _ = try world.modify(delete: [id("r0"), id("r1")], as: world.laptop)
    let new = try world.page().token
    let middle = try world.page(limit: 3)
    func trim() throws {
      _ = try world.machine.trimTombstones(
        of: World.zone, in: world.database, now: world.now, storage: world.storage)
    }
    try trim()
    #expect(try words(world, old) == "! changeTokenExpired", "it has not seen the deletions")
    #expect(try words(world, new) == "", "it has seen everything")
    #expect(try words(world, middle.token) == "r5, r6, r7, r8, r9", "it began after them")
    _ = try world.modify(delete: [id("r2")], as: world.laptop)
    #expect(try words(world, middle.token) == "r5, r6, r7, r8, r9, -r2")
    try trim()
    #expect(try words(world, middle.token) == "! changeTokenExpired", "it may hold r2")
    _ = try world.machine.expireTokens(
      of: World.zone, in: world.database, now: world.now, storage: world.storage)
    #expect(try words(world, new) == "! changeTokenExpired")
    var token: ChangeToken?
    var seen: [String] = []
    repeat {
      let page = try world.page(token, limit: 2)
      seen += page.modified.map(\.id.name)
      token = page.moreComing ? page.token : nil
    } while token != nil
    #expect(seen == (3..<10).map { "r\($0)" })
    #expect(try world.page(try world.page().token).words == "")
  }

  /// Proves CS-146.
  @Test("The database's tokens expire, and its deletions are forgotten")
  func databaseTokensAndDeletionsExpire() throws {
    let world = try World(zones: [World.zone, ZoneID(name: "Y")])
    let old = try world.databasePage().token
    _ = try world.machine.removeZone(
      World.zone, for: .purged, in: world.database, now: world.now, storage: world.storage)
    let new = try world.databasePage().token
    func ask(_ token: ChangeToken) throws -> String {
      try world.say(.fetchDatabaseChanges(FetchDatabaseChanges(since: token)))
    }
    #expect(try world.modify([fresh("a")]) == "+a userDeletedZone")
    _ = try world.machine.trimTombstones(
      of: nil, in: world.database, now: world.now, storage: world.storage)
    #expect(try ask(old) == "! changeTokenExpired")
    #expect(try ask(new) == "")
    #expect(try world.modify([fresh("a")]) == "+a zoneNotFound")
    _ = try world.machine.expireTokens(
      of: nil, in: world.database, now: world.now, storage: world.storage)
    #expect(try ask(new) == "! changeTokenExpired")
    #expect(try ask(try world.databasePage().token) == "")
  }
}
