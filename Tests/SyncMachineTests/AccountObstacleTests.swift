import CloudProtocol
import Records
import SyncMachine
import Testing

/// An account that is there and can't be used: nothing is reported and nothing is dropped.
struct AccountObstacleTests {
  private static let errors =
    CloudError.AccountObstacle.allCases.map {
      CloudError(.notAuthenticated, "", accountObstacle: $0)
    } + [
      CloudError(.managedAccountRestricted, ""), CloudError(.accountTemporarilyUnavailable, ""),
    ]

  /// Proves CE-150, CE-152.
  @Test func anUnusableAccountKeepsWhatIsPendingAndIsAskedForAgain() {
    for error in Self.errors {
      var story = Story.signedIn(automatically: true)
      story.machine.add([PendingChange(.save, Story.id("a"))], now: story.now)
      story.machine.accountSignalled(now: story.now)
      story.run()
      story.answer(.failure(error))
      #expect(story.pending == ["save a"], "\(error)")
      #expect(!story.told().contains { $0.hasPrefix("signOut") || $0.contains("signOut") })
      #expect(story.machine.state.user == Story.user)
      #expect(story.request == nil)
      // Without any signal the question is asked again.
      story.now = story.now + .seconds(2)
      story.run()
      #expect(story.request?.request == .fetchCurrentUser, "\(error)")
      story.answer(.success(.currentUser(Story.user)))
      #expect(story.pending == ["save a"])
    }
  }

  /// Proves CE-150.
  @Test func aSignOutIsStillASignOut() {
    var story = Story.signedIn(automatically: true)
    story.machine.add([PendingChange(.save, Story.id("a"))], now: story.now)
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.notAuthenticated, "")))
    #expect(story.pending == [] && story.machine.state.user == nil)
  }

  @Test func aCancellationDoesNotWaitForAnAccountCheck() {
    var story = Story.signedIn()
    story.machine.accountSignalled(now: story.now)
    story.run()
    #expect(story.request?.request == .fetchCurrentUser)
    story.log = []
    story.machine.cancelOperations(waiter: Waiter(number: 1), now: story.now)
    story.run()
    #expect(story.told() == ["done"])
    story.answer(.success(.currentUser(Story.user)))
    #expect(story.told() == [] && story.machine.stage == .idle)
  }

  @Test func theBackoffOfAccountChecksBeginsAgainAfterASuccess() {
    var story = Story.signedIn(automatically: true)
    story.machine.accountSignalled(now: story.now)
    story.run()
    for _ in 0..<8 {
      #expect(story.request?.request == .fetchCurrentUser)
      story.answer(.failure(CloudError(.accountTemporarilyUnavailable, "")))
      story.now = story.now + .seconds(301)
      story.run()
    }
    story.answer(.success(.currentUser(Story.user)))
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.accountTemporarilyUnavailable, "")))
    #expect(story.request == nil)
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.request?.request == .fetchCurrentUser)
  }
}
