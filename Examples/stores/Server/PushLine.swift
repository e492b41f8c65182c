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

  private let device: any CloudDevice
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
  ///   - heard: called on any thread for each push, and when pushes may have been lost.
  /// - Throws: `CKError` if the server can't be reached or refuses the token.
  init(
    _ address: WebAddress, device name: String, account: String,
    subscriptions: [Subscription], heard: @escaping @Sendable () -> Void
  ) async throws {
    let link = LinkedDevice(
      WebCloud(address: address), device: "\(name) (watching)", account: account)
    for make in subscriptions {
      let (scope, subscription) = make()
      let info = CKSubscription.NotificationInfo()
      info.shouldSendContentAvailable = true
      subscription.notificationInfo = info
      _ = try await link.container.database(with: scope).save(subscription)
    }
    self.account = account
    device = link.device
    observation = device.transport.observeSignals { _ in heard() }
  }

  deinit { observation.stop() }
}

/// Wakes a task at intervals and when a push arrives.
final class Bell: Sendable {
  /// One element for each wake-up; several that are not awaited become one.
  let rings: AsyncStream<Void>

  private let continuation: AsyncStream<Void>.Continuation
  private let isNews = Mutex(false)
  private let ticker: Task<Void, Never>

  /// A bell that rings every `interval` until it is released.
  init(every interval: Duration) {
    let (rings, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.rings = rings
    self.continuation = continuation
    ticker = Task {
      while !Task.isCancelled {
        do { try await Task.sleep(for: interval) } catch { return }
        continuation.yield()
      }
    }
  }

  deinit {
    ticker.cancel()
    continuation.finish()
  }

  /// Rings because a push arrived.
  func ring() {
    isNews.withLock { $0 = true }
    continuation.yield()
  }

  /// Whether a push arrived since the last call.
  func takeNews() -> Bool {
    isNews.withLock { isNews in
      defer { isNews = false }
      return isNews
    }
  }
}
