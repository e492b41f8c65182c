import CloudProtocol
import CloudSync
import Foundation

/// Hears of what other devices change on a server by HTTP, for as long as it is kept.
///
/// It has a name of its own there: a device is not told of its own changes, which other commands
/// may make under its name meanwhile, and two that wait under one name take each other's pushes.
final class PushLine: Sendable {
  /// The account it listens for.
  let account: String

  private let device: any CloudDevice
  private let observation: any SignalObservation

  /// What makes a server send pushes: a subscription, and the database it belongs to.
  typealias Subscription = @Sendable () -> (CKDatabase.Scope, CKSubscription)

  /// A push for whatever changes in the zones of the user's private database.
  static let privateDatabase: [Subscription] = [
    { (.private, CKDatabaseSubscription(subscriptionID: "stores-watch")) }
  ]

  /// A push for whatever changes in what others share with the user.
  static let sharedDatabase: [Subscription] = [
    { (.shared, CKDatabaseSubscription(subscriptionID: "stores-watch-shared")) }
  ]

  /// Asks for pushes and waits for them.
  ///
  /// The engines of the stores ask for none, as they sync when told only.
  /// - Parameters:
  ///   - subscriptions: what to ask for.
  ///   - heard: called from any thread when something changed, or may have.
  /// - Throws: `CKError` when the server can't be reached or lets nobody in.
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
