public import CloudProtocol
import Synchronization

/// One push on its way to one device, and what became of it.
public struct PushEntry: Hashable, Sendable {
  /// What became of a push.
  public enum Fate: String, Hashable, Sendable {
    /// It was handed to the device.
    case delivered
    /// A fault dropped it.
    case dropped
    /// It waits for `FaultControls.releasePushes()`.
    case held
  }

  /// The device it is for.
  public var device: String
  /// What it says.
  public var push: CloudPush
  /// What became of it.
  public var fate: Fate
}

/// Knows the devices and brings pushes to them.
final class PostOffice: Sendable {
  fileprivate struct Contents {
    var devices: [DeviceKey: DeviceState] = [:]
    var drops: [(device: String?, left: Int)] = []
    var holdsPushes = false
    var held: [PushEntry] = []
    var log: [PushEntry] = []
  }

  /// How many entries the log keeps; older ones go.
  static let logLength = 10_000
  /// How many devices are remembered before those from outside that nobody needs are forgotten.
  static let mostDevices = 4096

  private let contents = Mutex(Contents())
  private let events: EventLog

  init(events: EventLog) { self.events = events }

  /// The device with this key, made when it is new, signed in as `account` then.
  func device(_ key: DeviceKey, account: String?) -> (state: DeviceState, isNew: Bool) {
    contents.withLock { contents in
      if let device = contents.devices[key] { return (device, false) }
      if contents.devices.count >= PostOffice.mostDevices { contents.forgetVisitors() }
      let device = DeviceState(name: key.name, account: account)
      contents.devices[key] = device
      return (device, true)
    }
  }

  /// All devices, by name.
  var devices: [DeviceState] {
    contents.withLock { contents in
      contents.devices.values.sorted {
        ($0.name, $0.account ?? "") < ($1.name, $1.account ?? "")
      }
    }
  }

  /// Brings each push to the devices of its account, by name, but not to the one that caused it.
  func send(_ pushes: [MachineRoom.AddressedPush]) {
    guard !pushes.isEmpty else { return }
    let devices = devices
    for addressed in pushes {
      for device in devices
      where device.account == addressed.account && device.name != addressed.exceptDevice {
        send(addressed.push, to: device)
      }
    }
  }

  private func send(_ push: CloudPush, to device: DeviceState) {
    let fate = contents.withLock { contents in
      let fate = contents.fate(device.name)
      let entry = PushEntry(device: device.name, push: push, fate: fate)
      contents.note(entry)
      if fate == .held { contents.held.append(entry) }
      return fate
    }
    events.add(.push(PushEntry(device: device.name, push: push, fate: fate)))
    if fate == .delivered { device.receive(push) }
  }

  /// Brings `push` to the device called `name`, past all faults, whoever it was meant for.
  func deliver(_ push: CloudPush, to name: String) {
    let entry = PushEntry(device: name, push: push, fate: .delivered)
    let devices = contents.withLock { contents in
      contents.note(entry)
      return contents.devices.filter { $0.key.name == name }.map(\.value)
    }
    events.add(.push(entry))
    for device in devices { device.receive(push) }
  }

  func drop(next count: Int, device: String?) {
    contents.withLock { $0.drops.append((device, count)) }
  }

  func hold() { contents.withLock { $0.holdsPushes = true } }

  /// Brings the held pushes, oldest first, and holds no more.
  func release() {
    let held = contents.withLock { contents in
      contents.holdsPushes = false
      defer { contents.held = [] }
      return contents.held
    }
    for entry in held { deliver(entry.push, to: entry.device) }
  }

  /// Forgets faults and throws the held pushes away.
  func clear() {
    contents.withLock { contents in
      contents.drops = []
      contents.holdsPushes = false
      contents.held = []
    }
  }

  var heldCount: Int { contents.withLock { $0.held.count } }

  var heldPushes: [PushEntry] { contents.withLock { $0.held } }

  var holdsPushes: Bool { contents.withLock { $0.holdsPushes } }

  var pendingLosses: [PendingPushLoss] {
    contents.withLock { contents in
      contents.drops.map { PendingPushLoss(device: $0.device, remaining: $0.left) }
    }
  }

  var log: [PushEntry] { contents.withLock { $0.log } }

  func forgetLog() { contents.withLock { $0.log = [] } }
}

/// What tells devices apart.
struct DeviceKey: Hashable, Sendable {
  var name: String
  /// The account of a device outside of this process: two people may have given theirs one name.
  ///
  /// `nil` for a device of this process, which can change its account.
  var visitor: String?
}

extension PostOffice.Contents {
  /// Forgets devices from outside that nobody listens on.
  mutating func forgetVisitors() {
    devices = devices.filter { $0.key.visitor == nil || $0.value.listenerCount > 0 }
  }

  mutating func fate(_ device: String) -> PushEntry.Fate {
    for index in drops.indices
    where drops[index].left > 0 && (drops[index].device ?? device) == device {
      drops[index].left -= 1
      drops.removeAll { $0.left == 0 }
      return .dropped
    }
    return holdsPushes ? .held : .delivered
  }

  mutating func note(_ entry: PushEntry) {
    log.append(entry)
    if log.count > 2 * PostOffice.logLength { log.removeFirst(PostOffice.logLength) }
  }
}
