import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import SyncSupport
import Testing

@testable import IdeaStore

@Suite("Ideas when the cloud fails", .timeLimit(.minutes(20)))
struct IdeaFailureTests {
  let server = LoopbackServer()
  let sends = RequestScope(kind: .modifyRecords)

  private func phone() async throws -> IdeaDevice {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    server.controls.forgetRequests()
    return phone
  }

  @Test(
    "I: Retries wait 1, 2 and 4 seconds, then the change waits for any trigger of the design",
    arguments: [CloudError.Code.networkFailure, .internalError, .serviceUnavailable])
  func retriesEndInQueueForTriggers(_ code: CloudError.Code) async throws {
    let phone = try await phone()
    for trigger in [
      IdeaSyncTrigger.networkRecovered, .enteredForeground, .byHand, .scheduled, .localChange,
    ] {
      server.controls.fail(next: 100, with: code, in: sends)
      server.controls.forgetRequests()
      try phone.store.create(title: "before \(trigger)")
      for (number, seconds) in [1, 2, 4].enumerated() {
        await phone.clock.waitForSleeper(of: .seconds(seconds))
        await phone.status { $0.nextAttempt == .seconds(seconds) }
        #expect(server.controls.requestCount(in: sends) == number + 1)
        phone.clock.advance(by: .seconds(seconds))
      }
      let queued = await phone.status { $0.phase != .syncing && $0.nextAttempt == nil }
      #expect(server.controls.requestCount(in: sends) == 4)
      #expect(queued.pending == 1 && queued.message?.isEmpty == false)
      #expect(queued.phase == (code == .networkFailure ? .offline : .failed))
      #expect(phone.store.log.contains { $0.message.hasSuffix("queued.") })
      server.controls.clear()
      phone.store.trigger(trigger)
      let done = await phone.status(\.isDone)
      #expect(done.message == nil && done.code == nil)
    }
    await phone.store.stop()
  }

  @Test("I: A busy zone is not used for 60 seconds, or as long as the server asks")
  func busyZoneIsRetriedAfterWait() async throws {
    let phone = try await phone()
    server.controls.fail(next: 1, with: .zoneBusy, in: sends)
    try phone.store.create(title: "a")
    let status = await phone.status { $0.nextAttempt != nil }
    #expect(status.nextAttempt == .seconds(60) && status.phase == .failed)
    #expect(status.message == "iCloud is busy. Ideas are sent again in a moment.")
    server.controls.fail(next: 1, with: .zoneBusy, retryAfter: 7, in: sends)
    await phone.clock.waitForSleeper(of: .seconds(60))
    phone.clock.advance(by: .seconds(60))
    await phone.status { $0.nextAttempt == .seconds(7) }
    await phone.clock.waitForSleeper(of: .seconds(7))
    phone.clock.advance(by: .seconds(7))
    await phone.status(\.isDone)
    #expect(server.controls.requestCount(in: sends) == 3)
    await phone.store.stop()
  }

  @Test("I: An edit does not end the wait for a busy zone")
  func busyZoneGetsNoRequestForAnEdit() async throws {
    let phone = try await phone()
    server.controls.fail(next: 1, with: .zoneBusy, retryAfter: 600, in: sends)
    try phone.store.create(title: "a")
    await phone.status { $0.nextAttempt == .seconds(600) }
    try phone.store.create(title: "b")
    await phone.store.operations.run { await phone.store.pass() }
    #expect(server.controls.requestCount(in: sends) == 1)
    #expect(phone.store.status.nextAttempt == .seconds(600))
    await phone.clock.waitForSleeper(of: .seconds(600))
    phone.clock.advance(by: .seconds(600))
    await phone.status(\.isDone)
    #expect(server.controls.requestCount(in: sends) == 2)
    await phone.store.stop()
  }

  @Test("I: Full storage is reported and never retried, and deletions are still sent")
  func fullStorageStillSendsDeletions() async throws {
    let phone = try await phone()
    let old = try phone.store.create(title: "old")
    await phone.status(\.isDone)
    try server.controls.setQuota(1, of: "ada")
    server.controls.forgetRequests()
    try phone.store.create(title: "new")
    let full = await phone.status { $0.isStorageFull && $0.phase == .failed }
    #expect(full.message?.contains("storage is full") == true && full.nextAttempt == nil)
    #expect(full.code == .quotaExceeded && full.pending == 1)
    #expect(server.controls.requestCount(in: sends) == 1)
    for trigger in [
      IdeaSyncTrigger.scheduled, .push, .networkRecovered, .enteredForeground, .localChange,
    ] {
      await phone.pass(after: trigger)
    }
    #expect(server.controls.requestCount(in: sends) == 1, "never by itself")
    try phone.store.delete(old.id)
    await phone.status { $0.pending == 1 && $0.phase == .failed }
    #expect(try server.ideas().isEmpty)
    try server.controls.setQuota(nil, of: "ada")
    try await phone.store.syncNow()
    let done = await phone.status(\.isDone)
    #expect(!done.isStorageFull)
    #expect(try server.ideas().count == 1)
    await phone.store.stop()
  }

  @Test("I: A permanently refused idea stays, is reported, and is sent after an edit or on request")
  func refusedIdeaResumesAfterEdit() async throws {
    let phone = try await phone()
    server.controls.fail(next: 1, with: .invalidArguments, in: sends)
    let idea = try phone.store.create(title: "a")
    let status = await phone.status { $0.heldBack == 1 && $0.phase != .syncing }
    #expect(status.pending == 1 && status.nextAttempt == nil)
    await phone.pass()
    #expect(server.controls.requestCount(in: sends) == 1)
    try phone.store.update(idea.id, title: "b")
    await phone.status(\.isDone)
    server.controls.fail(next: 1, with: .permissionFailure, in: sends)
    try phone.store.update(idea.id, title: "c")
    await phone.status { $0.heldBack == 1 && $0.phase != .syncing }
    try await phone.store.syncNow()
    await phone.status(\.isDone)
    await phone.store.stop()
  }

  @Test("I: A lost answer neither duplicates nor loses an idea")
  func lostAnswerKeepsOneIdea() async throws {
    let phone = try await phone()
    server.controls.dropAnswers(next: 1, in: sends)
    let idea = try phone.store.create(title: "a")
    await phone.status { $0.nextAttempt == .seconds(1) }
    #expect(phone.store.syncState(of: idea.id)?.isPendingSync == true)
    #expect(try server.ideas().count == 1)
    await phone.clock.waitForSleeper(of: .seconds(1))
    phone.clock.advance(by: .seconds(1))
    await phone.status(\.isDone)
    #expect(try server.ideas().count == 1 && phone.store.ideas == [idea])
    server.controls.dropAnswers(next: 1, in: sends)
    try phone.store.delete(idea.id)
    await phone.status { $0.nextAttempt == .seconds(1) }
    await phone.clock.waitForSleeper(of: .seconds(1))
    phone.clock.advance(by: .seconds(1))
    await phone.status(\.isDone)
    #expect(try server.ideas().isEmpty)
    await phone.store.stop()
  }

  @Test("I: Ideas too long for one request are sent in several")
  func largeIdeasUseSeveralRequests() async throws {
    let phone = try await phone()
    phone.device.isOnline = false
    let words = String(repeating: "想法😀", count: 1_365)
    for number in 0..<150 { try phone.store.create(title: "\(number)", description: words) }
    phone.device.isOnline = true
    try await phone.store.syncNow()
    await phone.status(\.isDone)
    #expect(try server.ideas().count == 150)
    let failed = server.controls.requests.filter {
      $0.kind == .modifyRecords && $0.outcome != .answered
    }
    #expect(failed.isEmpty)
    await phone.store.stop()
  }

  @Test("I: Without a subscription the schedule finds new ideas")
  func scheduleFindsChangesWithoutSubscription() async throws {
    let tablet = try IdeaDevice(server, "tablet")
    server.controls.fail(
      next: 100, with: .serverRejectedRequest, in: RequestScope(kind: .modifySubscriptions))
    let phone = try await phone()
    try await tablet.begin()
    let idea = try tablet.store.create(title: "a")
    await tablet.status(\.isDone)
    #expect(phone.store.ideas.isEmpty)
    await phone.clock.waitForSleeper(of: .seconds(300))
    phone.clock.advance(by: .seconds(300))
    await phone.status { _ in phone.store.idea(idea.id) != nil }
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: A store that is not started reports that, and a stopped one sends nothing")
  func stoppedStoreSendsNothing() async throws {
    let phone = try await phone()
    await phone.store.stop()
    await phone.store.stop()
    await #expect(throws: SyncedStoreError.isStopped) { try await phone.store.syncNow() }
    try phone.store.create(title: "later")
    phone.store.trigger(.byHand)
    #expect(try server.ideas().isEmpty && phone.store.status.pending == 1)
    try await phone.begin()
    #expect(try server.ideas().count == 1)
    await phone.store.stop()
  }
}
