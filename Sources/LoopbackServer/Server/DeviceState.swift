import CloudMachine
import CloudProtocol
import Synchronization

/// The state of a device on the server, kept for the lifetime of the server.
final class DeviceState: Sendable {
  private struct Contents {
    var account: String?
    var availability = AccountAvailability.available
    var isOnline = true
    var listeners: [(id: UInt64, call: @Sendable (CloudSignal) -> Void)] = []
    var nextListener: UInt64 = 0
    /// Pushes that arrived while the device was offline, without duplicates.
    var waiting: [CloudPush] = []

    /// Keeps a push; beyond a number of them, one for each subscription.
    mutating func keep(_ push: CloudPush) {
      let isKnown =
        waiting.count < DeviceState.mostWaiting
        ? waiting.contains(push)
        : waiting.contains {
          $0.subscription == push.subscription && $0.container == push.container
            && $0.database == push.database && $0.environment == push.environment
        }
      if !isKnown { waiting.append(push) }
    }
  }

  /// The number of waiting pushes from which they only say which subscription has news.
  private static let mostWaiting = 200

  let name: String
  private let contents: Mutex<Contents>

  init(name: String, account: String?) {
    self.name = name
    contents = Mutex(Contents(account: account))
  }

  var account: String? { contents.withLock { $0.account } }
  var availability: AccountAvailability { contents.withLock { $0.availability } }
  var isOnline: Bool { contents.withLock { $0.isOnline } }
  var waitingCount: Int { contents.withLock { $0.waiting.count } }
  var listenerCount: Int { contents.withLock { $0.listeners.count } }

  /// Signs in as `account`, or out with `nil`, and notifies the listeners of a change.
  func signIn(as account: String?) {
    let isChange = contents.withLock { contents in
      guard contents.account != account else { return false }
      contents.account = account
      contents.waiting = []
      return true
    }
    if isChange { notify(.accountChanged) }
  }

  func setAvailability(_ availability: AccountAvailability) {
    let isChange = contents.withLock { contents in
      defer { contents.availability = availability }
      return contents.availability != availability
    }
    if isChange { notify(.accountChanged) }
  }

  /// Sets the state if the setting is for this device.
  func set(_ setting: DeviceSetting) {
    guard setting.name == name, setting.account == nil || setting.account == account else { return }
    if let availability = setting.availability { setAvailability(availability) }
    if let isOnline = setting.isOnline { setOnline(isOnline) }
  }

  /// Connects to or disconnects from the network; on connection the listeners are notified and the
  /// missed pushes are delivered.
  func setOnline(_ isOnline: Bool) {
    let (returns, pushes) = contents.withLock { contents in
      let returns = isOnline && !contents.isOnline
      contents.isOnline = isOnline
      defer { if isOnline { contents.waiting = [] } }
      return (returns, isOnline ? contents.waiting : [])
    }
    if returns { notify(.networkReturned) }
    for push in pushes { notify(.push(push)) }
  }

  /// Delivers a push to the listeners, at once or when the device is online again.
  func receive(_ push: CloudPush) {
    let isOnline = contents.withLock { contents in
      if !contents.isOnline { contents.keep(push) }
      return contents.isOnline
    }
    if isOnline { notify(.push(push)) }
  }

  func add(_ listener: @escaping @Sendable (CloudSignal) -> Void) -> UInt64 {
    contents.withLock { contents in
      contents.nextListener += 1
      contents.listeners.append((contents.nextListener, listener))
      return contents.nextListener
    }
  }

  func remove(listener id: UInt64) {
    contents.withLock { contents in contents.listeners.removeAll { $0.id == id } }
  }

  /// Calls the listeners without holding the lock, because they may call the device.
  private func notify(_ signal: CloudSignal) {
    for listener in contents.withLock({ $0.listeners }) { listener.call(signal) }
  }
}
