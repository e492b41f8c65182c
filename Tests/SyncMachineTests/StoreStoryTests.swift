import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of a state store that refuses writes")
struct StoreStoryTests {
  /// A story that signs out while the state store is full.
  private static func held() -> Story {
    var story = Story.signedIn(stores: true)
    story.save("a")
    story.store()
    story.isStoreFull = true
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.notAuthenticated, "")))
    return story
  }

  /// Proves I3, I13.
  @Test("An account change is held back until it is stored, and nothing is lost meanwhile")
  func holdsAccountChange() {
    var story = StoreStoryTests.held()
    #expect(story.told() == ["> fetchCurrentUser", "refused"])
    #expect(story.machine.isHoldingAccountChange && story.pending == ["save a"])
    story.isStoreFull = false
    story.run()
    #expect(story.told() == [], "the back-off has not ended")
    story.now = story.now + .seconds(2)
    story.run()
    #expect(story.told() == ["rewritten", "accountChange signOut"])
    #expect(!story.machine.isHoldingAccountChange && story.pending.isEmpty)
  }

  /// Proves I3, I13.
  @Test("Each refused attempt doubles the time to the next, up to 64 seconds")
  func refusedAttemptsDoubleTheDelay() {
    var story = StoreStoryTests.held()
    for seconds in [2, 4, 8, 16, 32, 64, 64] {
      guard case .wait(let deadline?) = story.machine.next(now: story.now) else {
        Issue.record("no wait for the store")
        return
      }
      #expect(deadline - story.now == .seconds(seconds))
      story.log = []
      story.now = deadline
      story.run()
      #expect(story.told() == ["refused"])
    }
  }

  /// Proves I3, I13.
  @Test("Operations fail while an account change is held back")
  func operationsFailDuringTheHold() {
    var story = StoreStoryTests.held()
    story.log = []
    story.fetch(1)
    story.send(2)
    story.machine.cancelOperations(waiter: Waiter(number: 3), now: story.now)
    story.run()
    #expect(story.told() == ["failed internalError", "failed internalError", "done"])
  }

  /// Proves I3.
  @Test("After a refused write the whole state is written, at once and then ever more seldom")
  func refusedWritesBecomeRewrites() {
    var story = Story.signedIn(stores: true)
    story.isStoreFull = true
    var attempts: [Int] = []
    for number in 0...192 {
      story.save("\(number)")
      story.store()
      if !story.told().isEmpty { attempts.append(number) }
    }
    #expect(attempts == [0, 1, 2, 4, 8, 16, 32, 64, 128])
    story.isStoreFull = false
    for number in 193...256 {
      story.save("\(number)")
      story.store()
    }
    #expect(story.told() == ["rewritten"])
    story.save("last")
    story.store()
    #expect(story.stored.last == .addRecord(PendingChange(.save, Story.id("last"))))
  }

  /// Proves I3.
  @Test("A refused state is written again after a time that doubles, also without a change")
  func refusedStateIsWrittenAgain() {
    var story = Story.signedIn(stores: true)
    story.isStoreFull = true
    story.save("a")
    story.store()
    var due = story.now
    story.now = story.now + .milliseconds(500)
    story.run()
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
      due = due + .seconds(seconds)
      #expect(story.machine.next(now: story.now) == .wait(until: due))
      story.log = []
      story.run()
      #expect(story.told() == [], "it is not time")
      story.now = due
      story.run()
      #expect(story.told() == ["refused"])
    }
    story.isStoreFull = false
    story.now = due + .seconds(60)
    story.log = []
    story.run()
    #expect(story.told() == ["rewritten"])
    #expect(story.machine.next(now: story.now) == .wait(until: nil))
  }

  /// Proves I13.
  @Test("Changes added after the hold has ended and before the event belong to the old account")
  func changesBeforeTheEventAreRemoved() {
    var story = StoreStoryTests.held()
    story.log = []
    story.isStoreFull = false
    for name in ["b", "c"] {
      story.save(name)
      story.store()
    }
    story.run()
    #expect(story.told() == ["rewritten", "accountChange signOut"] && story.pending.isEmpty)
  }

  /// Proves I3, I13.
  @Test("A write that succeeds while an account change is held back ends the wait")
  func nextWriteEndsHold() {
    var story = StoreStoryTests.held()
    story.log = []
    story.isStoreFull = false
    story.save("b")
    story.store()
    story.run()
    #expect(story.told() == ["rewritten", "accountChange signOut"])
  }
  /// A log that is as large as it may be, and one that is larger.
  private static let logs: [(StoreSize, isFull: Bool)] = [
    (StoreSize(snapshot: 1_000, log: 256 * 1024), false),
    (StoreSize(snapshot: 1_000, log: 256 * 1024 + 1), true),
    (StoreSize(snapshot: 300_000, log: 600_000), false),
    (StoreSize(snapshot: 300_000, log: 600_001), true),
  ]

  @Test(
    "A log of more than 256 KiB and twice the snapshot is replaced at the next change",
    arguments: logs)
  func fullLogIsReplaced(_ size: StoreSize, isFull: Bool) {
    var story = Story.signedIn(stores: true)
    story.storeSize = size
    story.save("a")
    story.store()
    #expect(story.told() == [])
    story.save("b")
    story.store()
    #expect(story.told() == (isFull ? ["replaced"] : []))
    #expect(!isFull || story.snapshot == story.machine.state)
  }

  @Test("A snapshot that replaces the log before an account change contains that change")
  func snapshotContainsAccountChange() {
    var story = Story.signedIn(stores: true)
    story.storeSize = StoreSize(log: 1_000_000)
    story.save("a")
    story.store()
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.notAuthenticated, "")))
    #expect(story.told() == ["> fetchCurrentUser", "replaced", "accountChange signOut"])
    #expect(story.snapshot?.user == nil && story.snapshot?.records.isEmpty == true)
    #expect(story.stored.last == .setUser(nil), "the app has returned from the event")
  }
}
