import CloudMachine
import CloudProtocol
import Synchronization

/// What the server knows of one device, kept for as long as the server lives.
final class DeviceState: Sendable {
  private struct Contents {
    var account: String?
    var availability = AccountAvailability.available
    var isOnline = true
    var listeners: [(id: UInt64, call: @Sendable (CloudSignal) -> Void)] = []
    var nextListener: UInt64 = 0
    /// Pushes that came while the device was offline, equal ones once.
    var waiting: [CloudPush] = []
  }

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

  /// Signs in as `account`, or out with `nil`, and tells the listeners when that is a change.
  func signIn(as account: String?) {
    let isChange = contents.withLock { contents in
      guard contents.account != account else { return false }
      contents.account = account
      contents.waiting = []
      return true
    }
    if isChange { tell(.accountChanged) }
  }

  func setAvailability(_ availability: AccountAvailability) {
    let isChange = contents.withLock { contents in
      defer { contents.availability = availability }
      return contents.availability != availability
    }
    if isChange { tell(.accountChanged) }
  }

  /// Joins or leaves the network; on joining, the listeners are told, and the pushes missed arrive.
  func setOnline(_ isOnline: Bool) {
    let (returns, pushes) = contents.withLock { contents in
      let returns = isOnline && !contents.isOnline
      contents.isOnline = isOnline
      defer { if isOnline { contents.waiting = [] } }
      return (returns, isOnline ? contents.waiting : [])
    }
    if returns { tell(.networkReturned) }
    for push in pushes { tell(.push(push)) }
  }

  /// Tells the listeners of a push, at once or when the device is online again.
  func receive(_ push: CloudPush) {
    let isOnline = contents.withLock { contents in
      if !contents.isOnline, !contents.waiting.contains(push) { contents.waiting.append(push) }
      return contents.isOnline
    }
    if isOnline { tell(.push(push)) }
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

  /// Listeners are called without the lock: they may call the device back.
  private func tell(_ signal: CloudSignal) {
    for listener in contents.withLock({ $0.listeners }) { listener.call(signal) }
  }
}

/// Whether the account on a device can be used, as `CKAccountStatus` tells it.
public enum AccountAvailability: String, Hashable, Sendable, CaseIterable {
  /// It can.
  case available
  /// There is an account, but it is not ready: requests end in `accountTemporarilyUnavailable`.
  case temporarilyUnavailable
  /// An administrator forbids it: requests end in `managedAccountRestricted`.
  case restricted

  var callerAvailability: Caller.Availability {
    switch self {
    case .available: .available
    case .temporarilyUnavailable: .temporarilyUnavailable
    case .restricted: .restricted
    }
  }
}
