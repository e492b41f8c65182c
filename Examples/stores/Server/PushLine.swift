import CloudProtocol
import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Receives the pushes of an HTTP server until it is released.
///
/// It connects as a separate device: a device gets no pushes for its own changes, which other
/// commands may make at the same time, and two connections of one device share its pushes.
final class PushLine: Sendable {
  /// The account whose pushes it receives.
  let account: String

  private let device: CloudDevice
  private let observation: any SignalObservation

  /// Makes a subscription; the scope is that of its database.
  typealias Subscription = @Sendable () -> (CKDatabase.Scope, CKSubscription)

  /// Pushes for all changes in the zones of the user's private database.
  static let privateDatabase: [Subscription] = [
    { (.private, CKDatabaseSubscription(subscriptionID: "stores-watch")) }
  ]

  /// Pushes for all changes in the user's shared database.
  static let sharedDatabase: [Subscription] = [
    { (.shared, CKDatabaseSubscription(subscriptionID: "stores-watch-shared")) }
  ]

  /// Saves the subscriptions and waits for pushes.
  ///
  /// The stores' engines save none, because they do not sync automatically.
  /// - Parameters:
  ///   - subscriptions: the subscriptions to save.
  ///   - wakeups: notes each push, and that pushes may have been lost.
  /// - Throws: `CKError` if the server can't be reached or refuses the token.
  init(
    _ address: WebAddress, device name: String, account: String,
    subscriptions: [Subscription], wakeups: WatchWakeups
  ) async throws {
    device = Cloud(address).device("\(name) (watching)", account: account)
    for make in subscriptions {
      let (scope, subscription) = make()
      subscription.notificationInfo = .silent
      _ = try await device.container.database(with: scope).save(subscription)
    }
    self.account = account
    observation = device.transport.observeSignals { [weak wakeups] _ in wakeups?.notePush() }
  }

  deinit { observation.stop() }
}

/// Wakes a task a second after it began to wait, and earlier when a push arrives.
final class WatchWakeups: Sendable {
  private let pushes: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let hasPush = Atomic(false)

  /// Creates wake-ups; no push has arrived yet.
  init() {
    (pushes, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  deinit { continuation.finish() }

  /// Waits for the next wake-up.
  ///
  /// - Returns: `false` if the task was cancelled.
  func wait() async -> Bool {
    // Other commands can use the device in between, even if many pushes arrive.
    guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return false }
    let timer = Task { [continuation] in
      if (try? await Task.sleep(for: .milliseconds(900))) != nil { continuation.yield() }
    }
    defer { timer.cancel() }
    var iterator = pushes.makeAsyncIterator()
    return await iterator.next() != nil
  }

  /// Wakes the task because a push arrived.
  func notePush() {
    hasPush.store(true, ordering: .relaxed)
    continuation.yield()
  }

  /// Whether a push arrived since the last call.
  func takePush() -> Bool { hasPush.exchange(false, ordering: .relaxed) }
}
