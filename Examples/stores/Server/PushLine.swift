import CloudProtocol
import CloudSync
import Foundation
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
  ///   - news: notes each push, and that pushes may have been lost.
  /// - Throws: `CKError` if the server can't be reached or refuses the token.
  init(
    _ address: WebAddress, device name: String, account: String,
    subscriptions: [Subscription], news: News
  ) async throws {
    device = Cloud(address).device("\(name) (watching)", account: account)
    for make in subscriptions {
      let (scope, subscription) = make()
      let info = CKSubscription.NotificationInfo()
      info.shouldSendContentAvailable = true
      subscription.notificationInfo = info
      _ = try await device.container.database(with: scope).save(subscription)
    }
    self.account = account
    observation = device.transport.observeSignals { [weak news] _ in news?.arrive() }
  }

  deinit { observation.stop() }
}

/// Whether a push arrived.
final class News: Sendable {
  private let isThere = Atomic(false)

  /// Notes that a push arrived.
  func arrive() { isThere.store(true, ordering: .relaxed) }

  /// Whether a push arrived since the last call.
  func take() -> Bool { isThere.exchange(false, ordering: .relaxed) }

  /// Waits for one second, or less if a push arrives.
  func wait() async throws {
    for _ in 0..<10 where !isThere.load(ordering: .relaxed) {
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
