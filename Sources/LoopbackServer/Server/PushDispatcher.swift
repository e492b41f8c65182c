public import CloudProtocol
import Synchronization

/// A push to a device, and its outcome.
public struct PushEntry: Hashable, Sendable {
  /// The outcome of a push.
  public enum Fate: String, Hashable, Sendable {
    /// The push was delivered to the device.
    case delivered
    /// A fault dropped the push.
    case dropped
    /// The push is held until `FaultControls.releasePushes()`.
    case held
  }

  /// The receiving device.
  public var device: String
  /// The content of the push.
  public var push: CloudPush
  /// The outcome of the push.
  public var fate: Fate
}

/// The registry of devices; delivers, drops or holds their pushes.
final class PushDispatcher: Sendable {
  fileprivate struct Contents {
    var devices: [DeviceKey: DeviceState] = [:]
    var held: [PushEntry] = []
    var log: [PushEntry] = []
  }

  /// The number of entries that the log keeps.
  static let logLength = 10_000
  /// The number of devices at which unused remote devices are removed.
  static let mostDevices = 4096

  private let contents = Mutex(Contents())
  private let events: EventLog
  private let faults: FaultStore

  init(events: EventLog, faults: FaultStore) {
    self.events = events
    self.faults = faults
  }

  /// The device with this key; a new one is created, signed in as `account`.
  func device(_ key: DeviceKey, account: String?) -> (state: DeviceState, isNew: Bool) {
    let found = deviceWithoutSettings(key, account: account)
    if found.isNew {
      for setting in faults.faults.devices { found.state.set(setting) }
    }
    return found
  }

  private func deviceWithoutSettings(
    _ key: DeviceKey, account: String?
  ) -> (state: DeviceState, isNew: Bool) {
    contents.withLock { contents in
      if let device = contents.devices[key] { return (device, false) }
      if contents.devices.count >= PushDispatcher.mostDevices { contents.forgetRemoteDevices() }
      let device = DeviceState(name: key.name, account: account)
      contents.devices[key] = device
      return (device, true)
    }
  }

  /// Removes the devices of other processes, except those that wait for pushes.
  func forgetRemoteDevices() { contents.withLock { $0.forgetRemoteDevices() } }

  /// All devices, by name.
  var devices: [DeviceState] {
    contents.withLock { contents in
      contents.devices.values.sorted {
        ($0.name, $0.account ?? "") < ($1.name, $1.account ?? "")
      }
    }
  }

  /// The names of the accounts of all devices.
  var accounts: [String] {
    Set(contents.withLock { $0.devices.values.compactMap(\.account) }).sorted()
  }

  /// Sends each push to the devices of its account, in order of name, except the one that caused
  /// it.
  func send(_ pushes: [MachineExecutor.AddressedPush]) {
    guard !pushes.isEmpty else { return }
    let accounts = Set(pushes.map(\.account))
    let devices = Dictionary(
      grouping: contents.withLock { Array($0.devices.values) }
        .filter { $0.account.map(accounts.contains) ?? false }
        .sorted { $0.name < $1.name }
    ) { $0.account }
    for addressed in pushes {
      for device in devices[addressed.account] ?? []
      where device.account == addressed.account && device.name != addressed.exceptDevice {
        send(addressed.push, to: device)
      }
    }
  }

  private func send(_ push: CloudPush, to device: DeviceState) {
    let fate = faults.takeFate(ofPushTo: device.name)
    let entry = PushEntry(device: device.name, push: push, fate: fate)
    contents.withLock { contents in
      contents.note(entry.logged)
      if fate == .held { contents.held.append(entry) }
    }
    events.add(.push(entry.logged))
    if fate == .delivered { device.receive(push) }
    // They may have been released in the meantime.
    if fate == .held, !faults.faults.holdsPushes { release() }
  }

  /// Delivers `push` to the device called `name`, without faults, whichever account it is for.
  func deliver(_ push: CloudPush, to name: String) {
    let entry = PushEntry(device: name, push: push, fate: .delivered)
    let devices = contents.withLock { contents in
      let devices = contents.devices.filter { $0.key.name == name }.map(\.value)
      // It may be a device of another server on the same data.
      if !devices.isEmpty || !faults.isShared { contents.note(entry.logged) }
      return devices
    }
    guard !devices.isEmpty || !faults.isShared else { return }
    events.add(.push(entry.logged))
    for device in devices { device.receive(push) }
  }

  /// Delivers the held pushes, oldest first.
  func release() {
    for entry in takeHeld() { deliver(entry.push, to: entry.device) }
  }

  /// Discards the held pushes.
  func clear() { _ = takeHeld() }

  private func takeHeld() -> [PushEntry] {
    contents.withLock { contents in
      defer { contents.held = [] }
      return contents.held
    }
  }

  var heldCount: Int { contents.withLock { $0.held.count } }

  var heldPushes: [PushEntry] { contents.withLock { $0.held } }

  var log: [PushEntry] { contents.withLock { $0.log } }

  func forgetLog() { contents.withLock { $0.log = [] } }
}

/// The identity of a device.
struct DeviceKey: Hashable, Sendable {
  var name: String
  /// The account of a device outside of this process, where different accounts may use the same
  /// device name.
  ///
  /// `nil` for a device of this process, whose account can change.
  var remoteAccount: String?
}

extension PushEntry {
  /// The entry for the logs, which do not keep the settings of removed subscriptions.
  fileprivate var logged: PushEntry {
    var entry = self
    entry.push.spentInfo = nil
    return entry
  }
}

extension PushDispatcher.Contents {
  /// Removes the remote devices without listeners.
  mutating func forgetRemoteDevices() {
    devices = devices.filter { $0.key.remoteAccount == nil || $0.value.listenerCount > 0 }
  }

  mutating func note(_ entry: PushEntry) {
    log.append(entry)
    if log.count > 2 * PushDispatcher.logLength { log.removeFirst(PushDispatcher.logLength) }
  }
}
