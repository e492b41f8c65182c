import CloudProtocol
import SyncMachine
import Testing

@Suite("The schedule of polling for pushes")
struct PollScheduleTests {
  private static let lost = CloudError(.networkFailure, "")

  /// The pause after a failure.
  private static func pause(
    _ schedule: inout PollSchedule, after error: CloudError = lost
  ) -> Duration? {
    schedule.failed(error)
    guard case .pause(let time) = schedule.step else { return nil }
    schedule.paused()
    return time
  }

  @Test("The address is asked for once, and used until a failure")
  func addressIsUsedUntilFailure() {
    var schedule = PollSchedule()
    #expect(schedule.step == .open)
    schedule.opened(at: "a")
    schedule.received()
    #expect(schedule.step == .wait(address: "a"))
    #expect(Self.pause(&schedule) == .seconds(1))
    #expect(schedule.step == .open)
  }

  @Test("Pauses double from 1 to 30 seconds, and a response at the address resets them")
  func pausesDoubleUntilSuccess() {
    var schedule = PollSchedule()
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      // An address alone is no success.
      schedule.opened(at: "a")
      #expect(Self.pause(&schedule) == .seconds(seconds))
    }
    schedule.opened(at: "a")
    schedule.received()
    #expect(Self.pause(&schedule) == .seconds(1))
  }

  @Test("Requests that end at once without a push are asked with growing pauses")
  func quickEndsArePaused() {
    var schedule = PollSchedule()
    func end(after time: Duration, _ count: Int) {
      for _ in 0..<count {
        schedule.opened(at: "a")
        schedule.receivedNothing(after: time)
      }
    }
    end(after: .zero, 4)
    #expect(schedule.step == .wait(address: "a"), "a service may end a few")
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      end(after: .milliseconds(999), 1)
      #expect(schedule.step == .pause(.seconds(seconds)))
      schedule.paused()
      #expect(schedule.step == .open)
    }
    end(after: .seconds(1), 1)
    #expect(schedule.step == .wait(address: "a"), "it waits now")
    end(after: .zero, 4)
    schedule.received()
    end(after: .zero, 4)
    #expect(schedule.step == .wait(address: "a"))
  }

  @Test("A pause is as long as the server asks")
  func pauseIsAsLongAsServerAsks() {
    var schedule = PollSchedule()
    let busy = CloudError(.serviceUnavailable, "", retryAfter: 90)
    #expect(Self.pause(&schedule, after: busy) == .seconds(90))
    #expect(Self.pause(&schedule) == .seconds(2), "it counts as a failure")
  }

  @Test("An account that can't be used now makes a pause")
  func accountThatCannotBeUsedMakesPause() {
    var schedule = PollSchedule()
    let restricted = CloudError(.notAuthenticated, "", accountObstacle: .restricted)
    #expect(Self.pause(&schedule, after: restricted) == .seconds(1))
  }

  @Test("Polling ends without an account, which is reported, and when it is cancelled")
  func pollingEndsWithoutAccount() {
    var schedule = PollSchedule()
    schedule.failed(CloudError(.notAuthenticated, ""))
    #expect(schedule.step == .end(accountChanged: true))
    schedule = PollSchedule()
    schedule.failed(CloudError(.operationCancelled, ""))
    #expect(schedule.step == .end(accountChanged: false))
  }
}
