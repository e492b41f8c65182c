import CloudProtocol
import Records
import SyncMachine
import Testing

/// Rules of the send that no other story is about.
@Suite("Rules of the send")
struct SendRuleTests {
  private static let second = ZoneID(name: "Second")

  private static func made(_ zones: ZoneID...) -> Result<CloudReply, CloudError> {
    .success(
      .zonesModified(
        saved: zones.map { ItemResult(id: $0, .success(Zone(id: $0))) }, deleted: []))
  }

  /// The app gives one change at a time.
  private static func single(_ machine: SyncMachine, _ context: SendContext) -> RecordBatch? {
    guard var batch = Story.everythingPending(machine, context) else { return nil }
    batch.saves = Array(batch.saves.prefix(1))
    return batch
  }

  /// Proves CE-20.
  @Test("Zones added while records are sent go out before the next batch")
  func zonesBetweenBatches() {
    var story = Story.signedIn()
    story.batch = SendRuleTests.single
    story.save("a", "b")
    story.onEvent = { machine, event, now in
      guard case .sentRecordChanges(let sent) = event, sent.saved.first?.id.name == "a" else {
        return
      }
      machine.add([PendingChange(.save, SendRuleTests.second)], now: now)
    }
    story.send()
    story.answerRecords()
    #expect(story.told().suffix(2) == ["sent [\"a\"][]", "> modifyZones"])
    story.answer(SendRuleTests.made(SendRuleTests.second))
    #expect(story.told() == ["sentDatabaseChanges", "batch?", "> modifyRecords"])
    story.answerRecords()
    #expect(story.told().last == "done")
  }

  @Test("The token of a zone that was deleted under the user's name is dropped")
  func tokenOfZoneDeletedByUsersNameIsDropped() {
    var state = SyncState()
    state.user = Story.user
    state.zoneTokens[Story.zone] = .at(5)
    var story = Story(state: state)
    story.signIn()
    let named = ZoneID(name: Story.zone.name, owner: Story.user.rawValue)
    story.machine.add([PendingChange(.delete, named)], now: story.now)
    story.send()
    story.answerZones()
    #expect(story.told().last == "done")
    #expect(story.machine.state.zoneTokens.isEmpty)
    #expect(story.machine.state.expiredZones == [Story.zone])
  }

  @Test("The fetch token of a zone is dropped when the engine's deletion of it succeeds, only then")
  func tokenOfDeletedZoneIsDropped() {
    for error in [nil, CloudError(.permissionFailure, "")] {
      var state = SyncState()
      state.user = Story.user
      state.subscription = SyncMachine.ownSubscription
      state.zoneTokens = [Story.zone: .at(5), SendRuleTests.second: .at(6)]
      var story = Story(state: state)
      story.signIn()
      story.machine.add([PendingChange(.delete, Story.zone)], now: story.now)
      story.send()
      story.answer(
        .success(
          .zonesModified(
            saved: [],
            deleted: [ItemResult(id: Story.zone, error.map { .failure($0) } ?? .success(Done()))])))
      let after = story.machine.state
      #expect(after.zoneTokens[Story.zone] == (error == nil ? nil : .at(5)))
      #expect(after.expiredZones == (error == nil ? [Story.zone] : []))
      #expect(after.zoneTokens[SendRuleTests.second] == .at(6))
    }
  }

  /// Proves CE-24.
  @Test("A partly failed batch ends the send, and unsent changes stay pending")
  func partlyFailedBatchEndsSend() {
    var story = Story.signedIn()
    story.batch = { machine, context in
      var batch = Story.everythingPending(machine, context)
      batch?.saves.removeLast()
      return batch
    }
    story.save("a", "b", "c")
    story.send()
    story.answerRecords(["b": .serverRecordChanged])
    #expect(
      story.told().suffix(3) == [
        "sent [\"a\", \"b serverRecordChanged\"][]", "didSendChanges", "failed partialFailure",
      ])
    #expect(story.pending == ["save c"])
  }

  /// Proves CE-50.
  @Test("A change that is retried is in the list while the app handles its failure")
  func retriedChangeIsListedDuringItsEvent() {
    for (code, listed) in [
      (CloudError.Code.zoneBusy, ["save a", "save b"]), (.networkFailure, ["save a", "save b"]),
      (.quotaExceeded, []),
    ] {
      var story = Story.signedIn()
      var seen: [String]?
      story.onEvent = { machine, event, _ in
        guard case .sentRecordChanges = event else { return }
        seen = machine.state.records.pending.map { "\($0.kind) \($0.id.name)" }
      }
      story.save("a", "b")
      story.send()
      story.answerRecords(["a": code, "b": code])
      #expect(seen == listed, "\(code)")
      #expect(story.pending == listed)
    }
  }

  @Test("A zone that is refused does not hold back the records; one that is retried does")
  func refusedZoneDoesNotHoldBackRecords() {
    for (code, ends) in [(CloudError.Code.invalidArguments, false), (.zoneBusy, true)] {
      var story = Story.signedIn()
      story.machine.add([PendingChange(.save, SendRuleTests.second)], now: story.now)
      story.save("a")
      story.send()
      _ = story.told()
      story.answerZones([SendRuleTests.second.name: code])
      if ends {
        #expect(story.told().suffix(2) == ["didSendChanges", "failed partialFailure"])
        #expect(story.pending == ["save a"])
        continue
      }
      #expect(story.told() == ["sentDatabaseChanges", "batch?", "> modifyRecords"])
      story.answerRecords()
      #expect(
        story.told() == ["sent [\"a\"][]", "didSendChanges", "failed partialFailure"],
        "the zone's error is that of the send")
      #expect(story.pending == [])
    }
  }

  /// Proves CE-179, I16.
  @Test("A refused zone change that the app adds again waits for the next send")
  func refusedZoneAddedAgainWaitsForNextSend() {
    for kind in [ChangeKind.save, .delete] {
      var story = Story.signedIn()
      story.onEvent = { machine, event, now in
        guard case .sentDatabaseChanges(let sent) = event,
          sent.saved.contains(where: { $0.error != nil })
        else { return }
        machine.add([PendingChange(kind, SendRuleTests.second)], now: now)
      }
      story.machine.add([PendingChange(.save, SendRuleTests.second)], now: story.now)
      story.save("a")
      story.send()
      story.answerZones([SendRuleTests.second.name: .permissionFailure])
      #expect(story.told().suffix(3) == ["sentDatabaseChanges", "batch?", "> modifyRecords"])
      story.answerRecords()
      #expect(story.told().suffix(2) == ["didSendChanges", "failed partialFailure"])
      #expect(story.machine.state.zones.pending == [PendingChange(kind, SendRuleTests.second)])
      story.send(2)
      #expect(story.told().last == "> modifyZones")
    }
  }

  @Test("The failure of a send names the zones that were refused, with their errors")
  func failureNamesRefusedZones() {
    var story = Story.signedIn()
    story.machine.add(
      [Story.zone, SendRuleTests.second].map { PendingChange(.save, $0) }, now: story.now)
    story.send()
    story.answerZones([SendRuleTests.second.name: .invalidArguments])
    let failure = story.failures.last
    #expect(failure?.error.code == .partialFailure && failure?.zones.count == 1)
    #expect(failure?.zones[SendRuleTests.second]?.code == .invalidArguments)
  }

  @Test("A request for zones that is refused as a whole ends the send before its records")
  func refusedZoneRequestEndsSend() {
    var story = Story.signedIn()
    story.machine.add([PendingChange(.save, SendRuleTests.second)], now: story.now)
    story.save("a")
    story.send()
    story.answer(.failure(CloudError(.invalidArguments, "")))
    let told = story.told()
    #expect(told.suffix(2) == ["didSendChanges", "failed invalidArguments"], "\(told)")
    #expect(story.pending == ["save a"] && story.request == nil)
  }

  /// Proves CE-31.
  @Test("A send for some zones, or records, sends the zone changes of those zones only")
  func scopeOfZoneChanges() {
    let scopes: [(SendScope, [ZoneID])] = [
      (.all, [Story.zone, SendRuleTests.second]), (.zones([Story.zone]), [Story.zone]),
      (.allExcluding([Story.zone]), [SendRuleTests.second]),
      (.records([Story.id("a")]), [Story.zone]), (.zones([]), []),
    ]
    for (scope, sent) in scopes {
      var story = Story.signedIn()
      story.machine.add(
        [Story.zone, SendRuleTests.second].map { PendingChange(.save, $0) }, now: story.now)
      story.send(scope: scope)
      guard case .modifyZones(let asked)? = story.request?.request else {
        #expect(sent.isEmpty, "\(scope) asked for no zone")
        continue
      }
      #expect(asked.save == sent, "\(scope)")
      story.answer(SendRuleTests.made(Story.zone, SendRuleTests.second))
      #expect(story.machine.state.zones.count == 2 - sent.count, "\(scope)")
    }
  }

  /// Proves CE-53.
  @Test("A batch made from elsewhere settles the pending change of the same record")
  func batchFromElsewhere() {
    var story = Story.signedIn()
    story.save("a", "b")
    var isFirst = true
    story.batch = { machine, context in
      defer { isFirst = false }
      guard isFirst else { return nil }
      return RecordBatch(
        saves: ["a", "stranger"].map { RecordSave(id: Story.id($0), type: "Note", changes: []) })
    }
    story.send()
    story.answerRecords(["stranger": .networkFailure])
    #expect(story.pending == ["save b"], "what was never pending does not become so")
  }

  /// Proves CE-54.
  @Test("A save without a record from the app stays pending until the app removes it")
  func saveWithoutRecordStaysPending() {
    var story = Story.signedIn()
    story.save("a")
    story.batch = { _, _ in nil }
    for number in 1...2 {
      story.send(UInt64(number))
      #expect(story.told() == ["willSendChanges", "batch?", "didSendChanges", "done"])
      #expect(story.pending == ["save a"])
    }
    story.machine.remove([PendingChange(.save, Story.id("a"))], now: story.now)
    #expect(story.pending.isEmpty)
  }

  /// Proves CE-56.
  @Test("Untracked changes that were noted again while the app was asked are not forgotten")
  func untrackedSetAgain() {
    var story = Story.signedIn()
    story.machine.setHasUntrackedChanges(true, now: story.now)
    story.send()
    // The app's answer is on its way when something new turns up.
    var machine = story.machine
    machine.setHasUntrackedChanges(true, now: story.now)
    machine.send(SendContext(reason: .manual, scope: .all), waiter: Waiter(number: 7))
    var isAsked = false
    while !isAsked {
      switch machine.next(now: story.now) {
      case .deliver: machine.delivered()
      case .askForBatch: isAsked = true
      case .askForFetchOptions, .send, .abandon, .finish, .wait: return #expect(Bool(false))
      }
    }
    machine.setHasUntrackedChanges(true, now: story.now)
    machine.provided(batch: nil, now: story.now)
    #expect(machine.state.hasUntrackedChanges)
    #expect(!story.machine.state.hasUntrackedChanges, "without that it clears")
  }

  /// Proves CE-83, I16, SC-147.
  @Test("Consecutive failures double the wait up to five minutes, and never below half of it")
  func failuresDoubleWait() {
    let backoff = Backoff()
    let whole = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    for (index, seconds) in whole.enumerated() {
      #expect(backoff.delay(afterFailures: index + 1, jitter: 1) == .seconds(seconds))
      #expect(backoff.delay(afterFailures: index + 1, jitter: 0) == .seconds(seconds) / 2)
    }
    #expect(backoff.delay(afterFailures: .max, jitter: .infinity) == .seconds(300))
    #expect(backoff.delay(afterFailures: 0, jitter: -1) == .milliseconds(500))
  }

  /// Proves CE-102.
  @Test("Pending changes of a zone that was deleted stay, and the send says what became of them")
  func pendingOfADeletedZone() {
    var story = Story.signedIn()
    story.save("a")
    story.fetch()
    let gone = ZoneDeletion(zone: Story.zone, reason: .deleted)
    story.answer(
      .success(
        .databaseChanges(
          DatabaseChangesPage(modified: [], deleted: [gone], token: .at(2), moreComing: false))))
    #expect(story.told().contains("zones [] [\"Notes deleted\"]"))
    #expect(story.pending == ["save a"])
    story.send(2)
    story.answerRecords(["a": .zoneNotFound])
    #expect(story.told().contains("sent [\"a zoneNotFound\"][]") && story.pending.isEmpty)
  }

  /// Proves CE-105.
  @Test(
    "A zone deleted after a write but before a fetch is reported, also after a crash",
    arguments: [nil, CloudError.Code.serverRecordChanged])
  func deletionOfUnreadZoneIsReported(_ error: CloudError.Code?) {
    var story = Story.signedIn()
    story.save("a")
    var left: SyncState?
    story.onEvent = { machine, event, _ in
      if case .sentRecordChanges = event { left = machine.state }
    }
    story.send()
    story.answerRecords(error.map { ["a": $0] } ?? [:])
    guard let left else { return #expect(Bool(false), "the app was told of nothing") }

    var next = Story(state: left)
    next.signIn()
    next.fetch()
    next.answer(
      .success(
        .databaseChanges(
          DatabaseChangesPage(modified: [], deleted: [], token: .at(1), moreComing: false))))
    let gone = ItemResult<ZoneID, Zone>(
      id: Story.zone, .failure(CloudError(.zoneNotFound, "")))
    next.answer(.success(.zones([gone])))
    #expect(next.told().contains("zones [] [\"Notes deleted\"]"))
  }
}
