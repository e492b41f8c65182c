import CloudMachine
import CloudProtocol

/// The faults of a server, and what else an operator changes while it runs; servers on one database
/// share them.
struct ServerFaults: Hashable, Sendable {
  /// The number of changes of this value.
  var version: UInt64 = 0
  /// The faults of requests, but those that run a closure.
  var rules: [FaultRule] = []
  /// The number of the latest fault.
  var lastRule = 0
  var pushLosses: [PendingPushLoss] = []
  var holdsPushes = false
  /// The limits that were set; `nil` if each server has those with which it was started.
  var limits: ServerLimits?
  /// The states of devices, for those that a server meets later.
  var devices: [DeviceSetting] = []
  /// The latest orders, which each server carries out once.
  private var orders: [FaultOrder] = []
  /// The number of the latest order.
  private(set) var lastOrder = 0

  /// The number of orders that are kept for servers that have not seen them.
  private static let mostOrders = 100

  /// The number of a new fault.
  mutating func nextNumber() -> Int {
    lastRule += 1
    return lastRule
  }

  /// Gives an order to all servers.
  mutating func give(_ order: FaultOrder) {
    lastOrder += 1
    orders.append(order)
    if orders.count > ServerFaults.mostOrders { orders.removeFirst() }
  }

  /// The orders that were given after the one with a number.
  func orders(after number: Int) -> ArraySlice<FaultOrder> {
    orders.suffix(max(0, lastOrder - number))
  }

  /// Sets the orders to those that were read.
  mutating func setOrders(_ orders: [FaultOrder], last: Int) {
    self.orders = orders
    lastOrder = last
  }

  /// Whether a fault may apply to a request.
  func mayApply(to entry: RequestEntry) -> Bool { rules.contains { $0.scope.contains(entry) } }

  /// Adds the faults that apply to a request to `faults`: at most one failure and one loss.
  mutating func take(_ faults: inout RequestFaults) {
    for index in rules.indices where rules[index].scope.contains(faults.entry) {
      switch rules[index].action {
      case .fail(let error):
        guard faults.failure == nil else { continue }
        faults.failure = error
      case .lose(let error):
        guard faults.loss == nil else { continue }
        faults.loss = error
      case .delay(let seconds): faults.delays.append(seconds)
      case .hold(.beforeCommit): faults.holdsBeforeCommit = true
      case .hold(.afterCommit): faults.holdsAfterCommit = true
      }
      rules[index].use()
    }
    rules.removeAll { $0.left == 0 }
  }

  /// Whether the next push to a device is lost.
  func losesPush(to device: String) -> Bool {
    pushLosses.contains { ($0.device ?? device) == device }
  }

  /// The fate of a push to a device.
  mutating func takeFate(ofPushTo device: String) -> PushEntry.Fate {
    guard let index = pushLosses.firstIndex(where: { ($0.device ?? device) == device }) else {
      return holdsPushes ? .held : .delivered
    }
    pushLosses[index].remaining -= 1
    if pushLosses[index].remaining == 0 { pushLosses.remove(at: index) }
    return .dropped
  }

  /// Removes all faults of requests and pushes.
  mutating func clear() {
    rules = []
    pushLosses = []
    holdsPushes = false
  }

  /// Keeps a state for devices that a server meets later; it replaces earlier ones.
  mutating func keep(_ setting: DeviceSetting) {
    for index in devices.indices
    where devices[index].name == setting.name
      && (setting.account == nil || setting.account == devices[index].account)
    {
      if setting.availability != nil { devices[index].availability = nil }
      if setting.isOnline != nil { devices[index].isOnline = nil }
    }
    devices.append(setting)
    let isUsual = devices.allSatisfy { $0.name != setting.name || $0.isUsual }
    devices.removeAll { isUsual && $0.name == setting.name || $0.isEmpty }
  }
}

/// A fault for the next requests in a scope.
struct FaultRule: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case fail(CloudError)
    case lose(CloudError)
    case delay(Double)
    case hold(HoldPoint)
  }

  var number: Int
  var action: Action
  var scope: RequestScope
  /// The number of remaining requests; `Int.max` for all.
  var left: Int

  /// Counts a request.
  mutating func use() {
    if left != .max { left -= 1 }
  }
}

/// The state of the devices with a name, if `account` is signed in there or is `nil`.
struct DeviceSetting: Hashable, Sendable {
  var name: String
  var account: String?
  var availability: AccountAvailability?
  var isOnline: Bool?

  fileprivate var isEmpty: Bool { availability == nil && isOnline == nil }
  fileprivate var isUsual: Bool {
    (availability ?? .available) == .available && isOnline != false
  }
}

/// An order that each server carries out once, for its own requests, pushes and devices.
enum FaultOrder: Hashable, Sendable {
  /// Releases the held requests in a scope.
  case release(RequestScope)
  /// Removes what `FaultControls.clear()` removes besides the shared faults.
  case clear
  /// Delivers the held pushes.
  case releasePushes
  /// Delivers a push to the devices with a name.
  case deliver(CloudPush, to: String)
  /// Sets the state of devices.
  case set(DeviceSetting)
}
