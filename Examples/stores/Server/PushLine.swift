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

  /// Asks for pushes and waits for them.
  ///
  /// The engine of tabs asks for none, as it syncs when told only.
  /// - Parameter heard: called from any thread when something changed, or may have.
  /// - Throws: `CKError` when the server can't be reached or lets nobody in.
  init(
    _ address: WebAddress, device name: String, account: String,
    heard: @escaping @Sendable () -> Void
  ) async throws {
    let link = LinkedDevice(
      WebCloud(address: address), device: "\(name) (watching)", account: account)
    let subscription = CKDatabaseSubscription(subscriptionID: "stores-watch")
    subscription.notificationInfo = CKSubscription.NotificationInfo()
    subscription.notificationInfo?.shouldSendContentAvailable = true
    _ = try await link.container.privateCloudDatabase.save(subscription)
    self.account = account
    device = link.device
    observation = device.transport.observeSignals { _ in heard() }
  }

  deinit { observation.stop() }
}
