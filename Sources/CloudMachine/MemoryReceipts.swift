import Records

/// The receipts of a user: the latest of each device, and the latest of all devices.
struct MemoryReceipts {
  /// The keys of receipts in the order in which they were stored.
  ///
  /// A key whose receipt was removed or stored again remains until it is the oldest one, or until
  /// most keys are of this kind.
  private struct Order {
    private var entries: [(key: ReceiptKey, number: UInt64)] = []
    private var first = 0

    mutating func append(_ key: ReceiptKey, _ number: UInt64) { entries.append((key, number)) }

    mutating func popFirst() -> (key: ReceiptKey, number: UInt64)? {
      guard first < entries.count else { return nil }
      defer { first += 1 }
      return entries[first]
    }

    func keys(_ isStored: (ReceiptKey, UInt64) -> Bool) -> [ReceiptKey] {
      entries[first...].filter { isStored($0.key, $0.number) }.map(\.key)
    }

    /// Removes the keys without a receipt if there are many.
    mutating func clean(count: Int, _ isStored: (ReceiptKey, UInt64) -> Bool) {
      guard entries.count > 64 + 2 * count else { return }
      entries = entries[first...].filter { isStored($0.key, $0.number) }
      first = 0
    }
  }

  private struct Device {
    var receipts: [String: (receipt: Receipt, number: UInt64)] = [:]
    var order = Order()
  }

  private var devices: [String: Device] = [:]
  private var order = Order()
  private var count = 0
  private var latest: UInt64 = 0

  subscript(key: ReceiptKey) -> Receipt? { devices[key.device]?.receipts[key.requestID]?.receipt }

  /// The keys of all receipts, oldest first.
  var keys: [ReceiptKey] { order.keys(isStored) }

  /// Stores a receipt, and removes the oldest ones of the device and of the user above the maximum.
  mutating func put(_ receipt: Receipt, keeping: Int) {
    let key = receipt.key
    latest += 1
    var device = Device()
    swap(&device, &devices[key.device, default: Device()])
    if device.receipts.updateValue((receipt, latest), forKey: key.requestID) == nil { count += 1 }
    device.order.append(key, latest)
    order.append(key, latest)
    while device.receipts.count > max(0, keeping), let (old, number) = device.order.popFirst() {
      guard device.receipts[old.requestID]?.number == number else { continue }
      device.receipts[old.requestID] = nil
      count -= 1
    }
    let stored = device.receipts
    device.order.clean(count: stored.count) { stored[$0.requestID]?.number == $1 }
    devices[key.device] = device.receipts.isEmpty ? nil : device
    while count > Receipt.mostOfUser(keeping: keeping), let (old, number) = order.popFirst() {
      if isStored(old, number) { remove(old) }
    }
    guard !devices.isEmpty else { return order = Order() }
    let all = devices
    order.clean(count: count) { all[$0.device]?.receipts[$0.requestID]?.number == $1 }
  }

  private func isStored(_ key: ReceiptKey, _ number: UInt64) -> Bool {
    devices[key.device]?.receipts[key.requestID]?.number == number
  }

  private mutating func remove(_ key: ReceiptKey) {
    devices[key.device]?.receipts[key.requestID] = nil
    count -= 1
    if devices[key.device]?.receipts.isEmpty == true { devices[key.device] = nil }
  }
}
