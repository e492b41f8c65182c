import CloudProtocol
import Records
import SyncMachine
import Testing

/// Replies that are incomplete, out of order or refused, and the limits of requests.
@Suite("Rules of replies")
struct ReplyRuleTests {
  private static let accountErrors: [CloudError.Code] = [
    .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted,
  ]

  private static func result(
    _ name: String, _ error: CloudError.Code? = nil
  ) -> ItemResult<RecordID, Record> {
    ItemResult(
      id: Story.id(name),
      error.map { .failure(CloudError($0, "")) }
        ?? .success(Record(id: Story.id(name), type: "Note")))
  }

  // MARK: Sends

  @Test("Results in another order than the request are reported in the order of the request")
  func resultsAreReportedInOrderOfRequest() {
    var story = Story.signedIn()
    story.save("a", "b", "c")
    story.send()
    let results = [Self.result("c"), Self.result("b", .serverRecordChanged), Self.result("a")]
    story.answer(.success(.recordsModified(saved: results, deleted: [])))
    #expect(story.told().contains("sent [\"a\", \"b serverRecordChanged\", \"c\"][]"))
    #expect(story.pending.isEmpty)
  }

  @Test("A change that the reply leaves out is reported as lost, and is pending again")
  func changeWithoutResultIsPendingAgain() {
    var story = Story.signedIn()
    story.save("a", "b")
    story.machine.add([PendingChange(.delete, Story.id("c"))], now: story.now)
    story.send()
    story.answer(.success(.recordsModified(saved: [Self.result("b")], deleted: [])))
    #expect(
      story.told().contains("sent [\"a serverResponseLost\", \"b\"][\"c serverResponseLost\"]"))
    #expect(story.pending == ["save a", "delete c"])
  }

  @Test("A request has at most 100 zone changes")
  func requestHasAtMost100ZoneChanges() {
    var story = Story.signedIn()
    let zones = (0..<201).map { ZoneID(name: "Z\($0)") }
    story.machine.add(zones.map { PendingChange(.save, $0) }, now: story.now)
    story.send()
    var sent: [[ZoneID]] = []
    while case .modifyZones(let asked)? = story.request?.request {
      sent.append(asked.save)
      story.answerZones()
    }
    #expect(sent.map(\.count) == [100, 100, 1] && sent.flatMap(\.self) == zones)
  }

  @Test("A single zone change that is too much for a request fails with that error")
  func singleZoneChangeIsNotHalved() {
    var story = Story.signedIn()
    story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
    story.send()
    story.answer(.failure(CloudError(.limitExceeded, "")))
    #expect(
      story.told().suffix(3) == ["sentDatabaseChanges", "didSendChanges", "failed limitExceeded"])
    #expect(story.machine.state.zones.isEmpty)
  }

  @Test("A save and a deletion of zones that are too many for one request are sent one by one")
  func saveAndDeletionOfZonesAreSentApart() {
    var story = Story.signedIn()
    let (first, second) = (ZoneID(name: "A"), ZoneID(name: "B"))
    story.machine.add([PendingChange(.save, first)], now: story.now)
    story.machine.add([PendingChange(.delete, second)], now: story.now)
    story.send()
    story.answer(.failure(CloudError(.limitExceeded, "")))
    var requests: [ModifyZones] = []
    while case .modifyZones(let asked)? = story.request?.request {
      requests.append(asked)
      story.answerZones()
    }
    #expect(requests.map(\.save) == [[first], []])
    #expect(requests.map(\.delete) == [[], [second]])
    #expect(story.told().last == "done")
  }

  @Test("Without a batch for a narrow scope the untracked changes remain")
  func narrowScopeKeepsUntrackedChanges() {
    var story = Story.signedIn()
    story.machine.setHasUntrackedChanges(true, now: story.now)
    story.batch = { _, _ in nil }
    story.send(1, scope: .zones([Story.zone]))
    #expect(story.told() == ["willSendChanges", "batch?", "didSendChanges", "done"])
    #expect(story.machine.state.hasUntrackedChanges)
    story.send(2)
    #expect(!story.machine.state.hasUntrackedChanges)
  }

  @Test("With untracked changes the app is asked until it has no batch, also for a repeated record")
  func untrackedRecordMayBeRepeated() {
    var story = Story.signedIn()
    story.machine.setHasUntrackedChanges(true, now: story.now)
    var count = 0
    story.batch = { _, _ in
      count += 1
      guard count < 3 else { return nil }
      return RecordBatch(saves: [RecordSave(id: Story.id("a"), type: "Note", changes: [])])
    }
    story.send()
    for _ in 0..<2 { story.answerRecords() }
    #expect(story.told().last == "done" && count == 3)
    #expect(!story.machine.state.hasUntrackedChanges)
  }

  @Test(
    "A send that fails for the account is followed by a check of the account",
    arguments: accountErrors)
  func failedSendChecksAccount(code: CloudError.Code) {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    story.answer(.failure(CloudError(code, "")))
    #expect(story.told().suffix(2) == ["failed \(code)", "> fetchCurrentUser"])
  }

  // MARK: Fetches

  @Test(
    "A zone's fetch that fails for the account is followed by a check of the account",
    arguments: accountErrors)
  func failedZoneChecksAccount(code: CloudError.Code) {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(.failure(CloudError(code, "")))
    #expect(story.told().suffix(2) == ["failed \(code)", "> fetchCurrentUser"])
  }

  @Test("A list of zones from the start whose token is said to have expired fails the fetch")
  func expiredTokenWithoutTokenFailsFetch() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(.failure(CloudError(.changeTokenExpired, "")))
    #expect(story.told().last == "failed changeTokenExpired" && story.request == nil)
  }

  @Test("A zone that is read from the start and whose token is said to have expired fails")
  func expiredTokenOfUnreadZoneFailsZone() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(.failure(CloudError(.changeTokenExpired, "")))
    #expect(
      story.told().suffix(3) == [
        "didFetchZone Notes changeTokenExpired", "didFetchChanges", "failed partialFailure",
      ])
    #expect(story.machine.state.changedZones == [Story.zone] && story.request == nil)
  }

  @Test("A page of another zone is not delivered")
  func pageOfAnotherZoneIsNotDelivered() {
    var story = Story.signedIn()
    let other = ZoneID(name: "Other")
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.log = []
    story.answer(FetchStoryTests.page(["a"], 1, zone: other))
    #expect(
      story.told() == [
        "didFetchZone Notes internalError", "didFetchChanges", "failed partialFailure",
      ])
    #expect(story.machine.state.zoneTokens.isEmpty)
    #expect(story.machine.state.changedZones == [Story.zone])
  }

  @Test("A wait that the server asks for one zone ends the fetch before the next zone")
  func waitForZoneEndsFetch() {
    var story = Story.signedIn()
    let zones = ["A", "B"].map { ZoneID(name: $0) }
    story.fetch()
    story.answer(FetchStoryTests.database(zones))
    story.answer(.failure(CloudError(.zoneBusy, "", retryAfter: 20)))
    #expect(
      story.told().suffix(3) == ["didFetchZone A zoneBusy", "didFetchChanges", "failed zoneBusy"])
    #expect(story.request == nil && story.machine.state.changedZones == zones)
  }

  @Test("A state stored while the app handles a zone's first page starts that zone over")
  func stateDuringFirstPageStartsOver() throws {
    var story = Story.signedIn()
    var stored: SyncState?
    story.onEvent = { machine, event, _ in
      if case .fetchedZoneChanges = event { stored = machine.state }
    }
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(FetchStoryTests.page(["a"], 1))
    #expect(story.machine.state.expiredZones.isEmpty)
    var next = Story(state: try #require(stored))
    next.signIn()
    next.fetch()
    next.answer(FetchStoryTests.database([]))
    next.answer(FetchStoryTests.page(["b"], 1, more: true))
    // The first page is not enough to tell which records were deleted.
    #expect(next.machine.state.zoneTokens[Story.zone] == nil)
    #expect(next.machine.state.expiredZones == [Story.zone])
    next.answer(FetchStoryTests.page([], 2))
    #expect(next.machine.state.zoneTokens[Story.zone] == .at(2))
    #expect(next.machine.state.expiredZones.isEmpty)
  }
}
