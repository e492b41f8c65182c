import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of the send")
struct SendStoryTests {
  /// Proves CE-13, CE-19, CE-46, CE-49, CE-99, E2, SC-46.
  @Test("A send saves zones first, then batches, then reports didSend, then the call returns")
  func zonesAreSentBeforeBatches() {
    var story = Story.signedIn()
    story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
    story.save("a", "b", "a")
    #expect(story.pending == ["save a", "save b"])
    story.send()
    #expect(story.told() == ["willSendChanges", "> modifyZones"])
    let zone = ItemResult<ZoneID, Zone>(id: Story.zone, .success(Zone(id: Story.zone)))
    story.answer(.success(.zonesModified(saved: [zone], deleted: [])))
    #expect(story.told() == ["sentDatabaseChanges", "batch?", "> modifyRecords"])
    story.answerRecords()
    #expect(story.told() == ["sent [\"a\", \"b\"][]", "didSendChanges", "done"])
    #expect(story.pending.isEmpty && story.machine.stage == .idle)
  }

  /// Proves CE-22, CE-50, CE-51, I4, SC-30, SC-162.
  @Test("An edit of a record in flight survives the success of the older version")
  func editInFlight() {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    #expect(story.pending.isEmpty)
    story.save("a")
    story.answerRecords()
    // The newer edit goes out with the next batch of the same operation.
    #expect(story.told().suffix(2) == ["batch?", "> modifyRecords"])
    story.answerRecords()
    #expect(story.pending.isEmpty && story.told().last == "done")
  }

  /// Proves CE-47, CE-48, CE-50.
  @Test("A later change replaces the opposite one in place, and a removal in flight stays removed")
  func laterChangeReplacesOppositeChange() {
    var story = Story.signedIn()
    story.save("a", "b")
    story.machine.add([PendingChange(.delete, Story.id("a"))], now: story.now)
    #expect(story.pending == ["delete a", "save b"])
    story.save("a")
    #expect(story.pending == ["save a", "save b"])
    story.send()
    story.machine.remove([PendingChange(.save, Story.id("a"))], now: story.now)
    story.answerRecords(["a": .networkFailure, "b": .networkFailure])
    #expect(story.pending == ["save b"])
  }

  /// The documented list, and the codes of Docs/Decisions/0004 and 0015.
  static let kept: Set<CloudError.Code> = [
    .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
    .notAuthenticated, .zoneBusy, .accountTemporarilyUnavailable, .operationCancelled,
    .serverResponseLost, .managedAccountRestricted,
  ]

  /// Proves CE-21, CE-24, CE-25, CE-68, CE-69, CE-70, CE-71, CE-75, CE-76,
  /// CE-152, E2, FB-2, I3, I15.
  @Test("Each code has its outcome for a save and a deletion, of an item and of a whole request")
  func eachErrorCodeHasSendOutcome() {
    #expect(CloudError.Code.allCases.count == 37)
    for code in CloudError.Code.allCases {
      for isWhole in [false, true] {
        for kind in [ChangeKind.save, .delete] {
          var story = Story.signedIn()
          story.machine.add([PendingChange(kind, Story.id("a"))], now: story.now)
          story.send()
          if isWhole {
            story.answer(.failure(CloudError(code, "")))
          } else {
            story.answerRecords(["a": code])
          }
          let isKept = SendStoryTests.kept.contains(code)
          #expect(story.pending.count == (isKept ? 1 : 0), "\(code) \(kind) whole: \(isWhole)")
          let told = story.told()
          #expect(told.contains { $0.hasPrefix("sent [") && $0.contains("a \(code)") }, "\(code)")
          #expect(told.filter { $0 == "didSendChanges" }.count == 1, "\(code)")
          #expect(told.contains("failed \(isWhole ? code : .partialFailure)"), "\(code) \(told)")
        }
      }
    }
  }

  /// Proves CE-15, CE-23, CE-25, CE-76.
  @Test(
    "A conflict makes the call throw, the change added again stays pending, a second call works")
  func conflictThrowsAndSecondSendWorks() {
    var story = Story.signedIn()
    story.save("a")
    story.onEvent = { machine, event, now in
      guard case .sentRecordChanges(let sent) = event else { return }
      for result in sent.saved where result.error != nil {
        machine.add([PendingChange(.save, result.id)], now: now)
      }
    }
    story.send()
    story.answerRecords(["a": .serverRecordChanged])
    #expect(story.told().suffix(2) == ["didSendChanges", "failed partialFailure"])
    #expect(story.pending == ["save a"])
    story.send(2)
    story.answerRecords()
    #expect(story.told().last == "done" && story.pending.isEmpty)
  }

  /// Proves CE-26, CE-57.
  @Test("In automatic mode a change added again after a conflict is sent by itself, after a fetch")
  func conflictIsResentAfterFetch() {
    var story = Story.signedIn(automatically: true)
    finishFetch(&story)
    story.save("a")
    story.onEvent = { machine, event, now in
      guard case .sentRecordChanges(let sent) = event, sent.saved.first?.error != nil else {
        return
      }
      machine.add([PendingChange(.save, Story.id("a"))], now: now)
    }
    story.now = story.now + .milliseconds(100)
    story.run()
    story.answerRecords(["a": .serverRecordChanged])
    story.log = []
    story.now = story.now + .milliseconds(200)
    story.run()
    #expect(story.told().contains("> fetchDatabaseChanges"))
    finishFetch(&story)
    story.answerRecords()
    #expect(story.pending.isEmpty)
  }

  /// Proves CE-83.
  @Test("Conflicts beside changes that pass do not add up to a long wait")
  func conflictsBesideSuccess() {
    var story = Story.signedIn(automatically: true)
    finishFetch(&story)
    story.onEvent = { machine, event, now in
      guard case .sentRecordChanges(let sent) = event else { return }
      let again = sent.saved.filter { $0.error != nil }.map { PendingChange(.save, $0.id) }
      machine.add(again, now: now)
    }
    story.save("a")
    for number in 0..<10 {
      story.save("b\(number)")
      story.now = story.now + .milliseconds(200)
      story.run()
      if number > 0 { finishFetch(&story) }
      story.answerRecords(["a": .serverRecordChanged])
    }
    story.log = []
    story.now = story.now + .milliseconds(200)
    story.run()
    finishFetch(&story)
    #expect(story.told().last == "> modifyRecords", "the last conflict is settled at once")
    story.answerRecords()
    #expect(story.pending.isEmpty)
    // What fails alone, every time, slows down.
    story.save("a")
    for _ in 0..<4 {
      story.now = story.now + .seconds(60)
      story.run()
      finishFetch(&story)
      story.answerRecords(["a": .serverRecordChanged])
    }
    story.log = []
    story.now = story.now + .milliseconds(200)
    story.run()
    #expect(story.told() == [], "it waits longer each time")
  }

  private func finishFetch(_ story: inout Story) {
    story.answer(
      .success(
        .databaseChanges(
          DatabaseChangesPage(modified: [], deleted: [], token: .at(1), moreComing: false))))
  }

  /// Proves CE-81, CE-82, I16.
  @Test("No request is sent before retry-after, and a manual call fails with the time to wait")
  func retryAfterDelaysAllRequests() {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    story.answer(.failure(CloudError(.serviceUnavailable, "", retryAfter: 30)))
    story.log = []
    story.now = story.now + .seconds(29)
    story.send(2)
    #expect(story.told() == ["failed requestRateLimited"])
    story.now = story.now + .seconds(1)
    story.send(3)
    #expect(story.told().last == "> modifyRecords")
  }

  /// Proves CE-65, CS-138, SC-151.
  @Test("A limitExceeded error halves the batch until it passes, unless it is atomic")
  func limitExceededHalvesBatch() {
    for isAtomic in [false, true] {
      var story = Story.signedIn()
      story.batch = { machine, context in
        var batch = Story.everythingPending(machine, context)
        batch?.isAtomic = isAtomic
        return batch
      }
      story.save("a", "b", "c")
      story.send()
      story.answer(.failure(CloudError(.limitExceeded, "")))
      guard !isAtomic else {
        #expect(story.told().last == "failed limitExceeded")
        continue
      }
      story.answer(.failure(CloudError(.limitExceeded, "")))
      for _ in 0..<3 { story.answerRecords() }
      #expect(story.told().last == "done" && story.pending.isEmpty)
    }
  }

  /// Proves CE-55, CE-56.
  @Test("Untracked changes make the engine request batches until the delegate returns none")
  func untrackedChangesRequestBatches() {
    var story = Story.signedIn()
    story.machine.setHasUntrackedChanges(true, now: story.now)
    story.batch = { _, _ in nil }
    story.send()
    #expect(story.told() == ["willSendChanges", "batch?", "didSendChanges", "done"])
    #expect(!story.machine.state.hasUntrackedChanges)
  }

  /// Proves CE-33, I23.
  @Test("Batches that affect nothing pending do not repeat forever")
  func batchesWithoutEffectEnd() {
    var story = Story.signedIn()
    story.save("a")
    story.batch = { _, _ in
      RecordBatch(saves: [RecordSave(id: Story.id("other"), type: "Note", changes: [])])
    }
    story.send()
    story.answerRecords()
    #expect(story.told().last != "done", "the app may have a batch with the change")
    story.answerRecords()
    #expect(story.told().last == "done" && story.pending == ["save a"])
  }

  /// Proves CE-33.
  @Test("After a batch of records that are not pending, the app is asked for the pending ones")
  func batchOfOtherRecordsIsFollowedByPendingOnes() {
    var story = Story.signedIn()
    story.save("child")
    let names = ["parent", "grandparent", "child"]
    var given = 0
    story.batch = { _, _ in
      guard given < names.count else { return nil }
      given += 1
      return RecordBatch(
        saves: [RecordSave(id: Story.id(names[given - 1]), type: "Note", changes: [])])
    }
    story.send()
    for _ in names { story.answerRecords() }
    #expect(story.told().last == "done" && story.pending == [] && given == 3)
  }

  /// Proves CE-34.
  @Test("A send asked for during a send runs after it; equal calls that wait are one")
  func sendDuringSend() {
    var story = Story.signedIn()
    story.save("a")
    story.send(1)
    story.send(2)
    story.send(3)
    story.answerRecords()
    #expect(story.told().filter { $0 == "willSendChanges" }.count == 2)
  }

  @Test("Zone changes that are too many for one request are sent in smaller ones")
  func tooManyZoneChangesAreSentInSmallerRequests() {
    var story = Story.signedIn()
    let zones = ["A", "B", "C"].map { ZoneID(name: $0) }
    story.machine.add(zones.map { PendingChange(.save, $0) }, now: story.now)
    story.send()
    var sizes: [Int] = []
    for _ in 0..<10 {
      guard case .modifyZones(let asked)? = story.request?.request else { break }
      sizes.append(asked.save.count)
      if asked.save.count > 1 {
        story.answer(.failure(CloudError(.limitExceeded, "")))
      } else {
        let saved = asked.save.map {
          ItemResult<ZoneID, Zone>(id: $0, .success(Zone(id: $0)))
        }
        story.answer(.success(.zonesModified(saved: saved, deleted: [])))
      }
    }
    #expect(sizes == [3, 1, 1, 1])
    #expect(story.told().last == "done" && story.machine.state.zones.isEmpty)
  }
}
