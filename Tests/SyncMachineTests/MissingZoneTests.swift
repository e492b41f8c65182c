import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of zones that a listing leaves out")
struct MissingZoneTests {
  private static let zones = ["A", "B", "C"].map { ZoneID(name: $0) }

  /// A manual fetch of an app that knows the zones A, B and C, whose database token has expired.
  private func expired(
    _ zones: [ZoneID] = MissingZoneTests.zones, isServerReset: Bool = false
  ) -> Story {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    for zone in zones { state.zoneTokens[zone] = .at(5) }
    return begun(state, isServerReset: isServerReset)
  }

  private func begun(_ state: SyncState, isServerReset: Bool = false) -> Story {
    var story = Story(state: state)
    story.signIn()
    story.fetch()
    let error = CloudError(
      .changeTokenExpired, "", userDidResetEncryptedData: isServerReset)
    story.answer(.failure(error))
    story.log = []
    return story
  }

  private static func page(
    _ zones: [ZoneID], _ token: UInt8, deleted: [ZoneDeletion] = [], more: Bool = false
  ) -> Result<CloudReply, CloudError> {
    .success(
      .databaseChanges(
        DatabaseChangesPage(
          modified: zones, deleted: deleted, token: .at(token), moreComing: more)))
  }

  private static func fates(_ fates: [(ZoneID, CloudError?)]) -> Result<CloudReply, CloudError> {
    .success(
      .zones(
        fates.map { zone, error in
          ItemResult(id: zone, error.map { .failure($0) } ?? .success(Zone(id: zone)))
        }))
  }

  /// The zones that the request that is out asks for.
  private func asked(_ story: Story) -> [ZoneID] {
    if case .fetchZones(let zones?) = story.request?.request { zones } else { [] }
  }

  /// Proves CE-114, PB-12.
  @Test("A server that takes fewer zones in one question is asked for fewer at a time")
  func limitedQuestionIsAskedInParts() {
    var story = expired()
    story.answer(MissingZoneTests.page([], 2))
    story.answer(.failure(CloudError(.limitExceeded, "")))
    for zone in MissingZoneTests.zones {
      #expect(asked(story) == [zone])
      story.answer(MissingZoneTests.fates([(zone, CloudError(.userDeletedZone, ""))]))
    }
    #expect(story.machine.state.knownZones.isEmpty)
    #expect(story.told().last == "done")
  }

  /// Proves CE-105, CE-114.
  @Test("A zone that is missing after an expired token is told with the reason the server gives")
  func missingZoneIsToldWithItsReason() {
    var story = expired()
    story.answer(MissingZoneTests.page([], 2))
    #expect(story.told() == ["> fetchZones"], "nothing is told before the server was asked")
    #expect(asked(story) == MissingZoneTests.zones)
    let reset = CloudError(.zoneNotFound, "", userDidResetEncryptedData: true)
    let fates: [(ZoneID, CloudError?)] = [
      (MissingZoneTests.zones[0], CloudError(.zoneNotFound, "")),
      (MissingZoneTests.zones[1], CloudError(.userDeletedZone, "")),
      (MissingZoneTests.zones[2], reset),
    ]
    story.answer(MissingZoneTests.fates(fates))
    #expect(
      story.told() == [
        "zones [] [\"A deleted\", \"B purged\", \"C encryptedDataReset\"]", "didFetchChanges",
        "done",
      ])
    #expect(story.machine.state.knownZones.isEmpty)
    #expect(story.machine.state.databaseToken == .at(2))
  }

  @Test("A wait that the server asks for one of the zones ends the fetch")
  func waitForOneZoneEndsTheFetch() {
    var story = expired()
    story.answer(MissingZoneTests.page([], 2))
    let fates: [(ZoneID, CloudError?)] = [
      (MissingZoneTests.zones[0], CloudError(.userDeletedZone, "")),
      (MissingZoneTests.zones[1], CloudError(.zoneBusy, "", retryAfter: 20)),
      (MissingZoneTests.zones[2], nil),
    ]
    story.answer(MissingZoneTests.fates(fates))
    #expect(story.request == nil)
    #expect(story.told().filter { $0.hasPrefix(">") } == ["> fetchZones"])
    // Everything is listed again after the wait, and nothing of the answer was lost.
    story.now = story.now + .seconds(20)
    story.fetch()
    #expect(story.request != nil)
    #expect(story.machine.state.databaseToken == .at(1))
    #expect(Set(story.machine.state.knownZones) == Set(MissingZoneTests.zones))
  }

  /// Proves CE-115.
  @Test("A zone that any page of a listing names is not asked for", arguments: 2...4)
  func zonesOfLaterPagesAreNotMissing(pageCount: Int) {
    let zones = (1...pageCount).map { ZoneID(name: "Z\($0)") }
    var story = expired(zones)
    for (index, zone) in zones.enumerated() {
      story.answer(
        MissingZoneTests.page([zone], UInt8(index + 2), more: index + 1 < pageCount))
    }
    #expect(!story.told().contains { $0.contains("deleted") || $0 == "> fetchZones" })
    #expect(Set(story.machine.state.zoneTokens.keys) == Set(zones))
    // With one more that no page names, exactly that one is asked for.
    story = expired(zones + [Story.zone])
    for (index, zone) in zones.enumerated() {
      story.answer(
        MissingZoneTests.page([zone], UInt8(index + 2), more: index + 1 < pageCount))
      #expect(asked(story) == (index + 1 < pageCount ? [] : [Story.zone]))
    }
  }

  /// Proves CE-116.
  @Test(
    "While the question fails nothing is told, and the next fetch lists and asks again",
    arguments: [false, true])
  func failedQuestionIsAskedAgain(relaunches: Bool) throws {
    var story = expired()
    story.answer(MissingZoneTests.page([], 2))
    story.answer(.failure(CloudError(.networkFailure, "")))
    #expect(story.told().suffix(2) == ["didFetchChanges", "failed networkFailure"])
    #expect(story.machine.state.knownZones == MissingZoneTests.zones)
    if relaunches {
      story = begun(try SyncState(decoding: story.machine.state.encoded()))
    } else {
      story.fetch(2)
      story.answer(.failure(CloudError(.changeTokenExpired, "")))
    }
    story.answer(MissingZoneTests.page([], 2))
    #expect(asked(story) == MissingZoneTests.zones)
  }

  /// Proves CE-116.
  @Test("A zone that is there after all, or can't be asked for now, is read and not told as gone")
  func zoneThatIsThereIsRead() {
    var story = expired()
    story.answer(MissingZoneTests.page([], 2))
    let fates: [(ZoneID, CloudError?)] = [
      (MissingZoneTests.zones[0], nil),
      (MissingZoneTests.zones[1], CloudError(.zoneBusy, "")),
      (MissingZoneTests.zones[2], CloudError(.userDeletedZone, "")),
    ]
    story.answer(MissingZoneTests.fates(fates))
    #expect(
      story.told().suffix(3) == [
        "zones [] [\"C purged\"]", "willFetchZone A", "> fetchZoneChanges",
      ])
    #expect(story.machine.state.changedZones == Array(MissingZoneTests.zones[..<2]))
  }

  /// Proves CE-117.
  @Test("A server that lost all it had is told as a reset, so that apps keep their data")
  func serverThatBeganAgainIsToldAsReset() {
    var story = expired(isServerReset: true)
    story.answer(MissingZoneTests.page([MissingZoneTests.zones[0]], 2))
    #expect(
      story.told().prefix(2) == [
        "zones [\"A\"] []", "zones [] [\"B encryptedDataReset\", \"C encryptedDataReset\"]",
      ])
  }

  /// Proves CE-114.
  @Test("More missing zones than one request may hold are asked for in parts")
  func manyMissingZonesAreAskedInParts() {
    let zones = (0..<250).map { ZoneID(name: "Z\($0)") }
    var story = expired(zones)
    story.answer(MissingZoneTests.page([], 2))
    var gone: [ZoneID] = []
    var sizes: [Int] = []
    while !asked(story).isEmpty {
      #expect(story.machine.state.databaseToken == .at(1))
      let part = asked(story)
      gone += part
      sizes.append(part.count)
      story.answer(MissingZoneTests.fates(part.map { ($0, CloudError(.zoneNotFound, "")) }))
    }
    #expect(gone == zones.sorted() && story.told().last == "done")
    #expect(sizes == [100, 100, 50])
    #expect(story.machine.state.databaseToken == .at(2))
  }

  @Test("A reply that leaves out a zone fails the fetch, and no zone counts as gone or present")
  func incompleteReplyFailsFetch() {
    var story = expired()
    story.answer(MissingZoneTests.page([], 2))
    story.answer(MissingZoneTests.fates([(MissingZoneTests.zones[0], nil)]))
    #expect(story.told().suffix(2) == ["didFetchChanges", "failed internalError"])
    #expect(story.machine.state.knownZones == MissingZoneTests.zones)
    #expect(story.machine.state.changedZones.isEmpty)
    #expect(story.machine.state.databaseToken == .at(1))
  }

  @Test("A zone that was listed and never read is asked for when a listing leaves it out")
  func unreadZoneIsAskedFor() {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    state.changedZones = [Story.zone]
    var story = begun(state)
    story.answer(MissingZoneTests.page([], 2))
    #expect(asked(story) == [Story.zone])
    story.answer(MissingZoneTests.fates([(Story.zone, CloudError(.zoneNotFound, ""))]))
    #expect(story.told().contains("zones [] [\"Notes deleted\"]"))
    #expect(story.machine.state.knownZones.isEmpty)
  }

  /// Proves CE-118.
  @Test("A denied zone that the list of zones then names as gone is told once, with its reason")
  func deniedZoneThatIsGoneIsTold() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(.failure(CloudError(.zoneNotFound, "")))
    #expect(story.told().last == "> fetchDatabaseChanges")
    let gone = ZoneDeletion(zone: Story.zone, reason: .purged)
    story.answer(MissingZoneTests.page([], 2, deleted: [gone]))
    #expect(story.told() == ["zones [] [\"Notes purged\"]", "didFetchChanges", "done"])
    #expect(story.machine.state.knownZones.isEmpty)
  }

  /// Proves CE-181.
  @Test("A zone that the list names again, after it was read, is read again by the same fetch")
  func zoneThatChangedMeanwhileIsReadAgain() {
    var story = Story.signedIn()
    let (read, denied) = (MissingZoneTests.zones[0], MissingZoneTests.zones[1])
    story.fetch()
    story.answer(FetchStoryTests.database([read, denied]))
    story.answer(FetchStoryTests.page(["a"], 1, zone: read))
    story.answer(.failure(CloudError(.zoneNotFound, "")))
    #expect(story.told().last == "> fetchDatabaseChanges")
    let gone = ZoneDeletion(zone: denied, reason: .deleted)
    story.answer(MissingZoneTests.page([read], 2, deleted: [gone]))
    #expect(
      story.told() == ["zones [\"A\"] [\"B deleted\"]", "willFetchZone A", "> fetchZoneChanges"])
    story.answer(FetchStoryTests.page(["b"], 3, zone: read))
    #expect(story.told().suffix(2) == ["didFetchChanges", "done"])
    #expect(story.machine.state.changedZones.isEmpty)
  }

  /// Proves CE-181.
  @Test("A denied zone that the list names as changed is not read again by the same fetch")
  func deniedZoneIsNotReadAgainAtOnce() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(.failure(CloudError(.zoneNotFound, "")))
    story.answer(MissingZoneTests.page([Story.zone], 2))
    // Only that it exists is asked, since the list may be older than the denial.
    story.answer(MissingZoneTests.fates([(Story.zone, nil)]))
    #expect(story.told().suffix(2) == ["didFetchChanges", "failed partialFailure"])
    #expect(story.request == nil && story.machine.state.changedZones == [Story.zone])
  }

  /// Proves CE-118.
  @Test("A denied zone that the list does not name is asked for, and told when it is gone")
  func deniedZoneThatTheListDoesNotName() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(.failure(CloudError(.zoneNotFound, "")))
    story.answer(MissingZoneTests.page([], 2))
    #expect(asked(story) == [Story.zone])
    story.answer(MissingZoneTests.fates([(Story.zone, CloudError(.userDeletedZone, ""))]))
    #expect(story.told().suffix(3) == ["zones [] [\"Notes purged\"]", "didFetchChanges", "done"])
  }

  /// Proves CE-161.
  @Test(
    "The default zone, which no listing names, is neither asked for nor told as gone",
    arguments: [false, true])
  func theDefaultZoneIsNeverInDoubt(isServerReset: Bool) {
    for own in [ZoneID.currentOwner, Story.user.rawValue] {
      let home = ZoneID(name: ZoneID.defaultName, owner: own)
      var story = expired([home, MissingZoneTests.zones[0]], isServerReset: isServerReset)
      story.answer(MissingZoneTests.page([], 2))
      if !isServerReset {
        #expect(asked(story) == [MissingZoneTests.zones[0]])
        story.answer(
          MissingZoneTests.fates([(MissingZoneTests.zones[0], CloudError(.zoneNotFound, ""))]))
      }
      #expect(
        story.told().contains {
          $0 == "zones [] [\"A \(isServerReset ? "encryptedDataReset" : "deleted")\"]"
        })
      #expect(story.machine.state.knownZones == [home])
      #expect(story.machine.state.zoneTokens[home] == .at(5))
    }
  }
}
