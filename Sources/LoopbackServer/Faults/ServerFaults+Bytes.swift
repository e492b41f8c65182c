import CloudProtocol
import Records

/// The binary form of the faults that servers share.
extension ServerFaults {
  /// The bytes of the faults, with a checksum.
  var bytes: [UInt8] { ChecksummedBytes.encode { $0.write(self) } }

  /// Reads faults from `bytes`; none from empty ones.
  init(bytes: [UInt8]) throws(ByteFormatError) {
    self.init()
    guard !bytes.isEmpty else { return }
    self = try ChecksummedBytes.decode(bytes) { (reader) throws(ByteFormatError) in
      try reader.serverFaults()
    }
  }

  /// The version of the binary form.
  fileprivate static let form: UInt8 = 1
}

extension ServerLimits {
  fileprivate static var sizes: [WritableKeyPath<ServerLimits, Int>] {
    [
      \.itemsPerRequest, \.requestBytes, \.recordBytes, \.zoneChangesPage, \.databaseChangesPage,
      \.queryTerms, \.filterValues, \.assetBytes,
    ]
  }
}

extension ByteWriter {
  fileprivate mutating func write(_ faults: ServerFaults) {
    write(ServerFaults.form)
    write(variable: faults.version)
    write(list: faults.rules) { $0.write($1) }
    write(count: faults.lastRule)
    write(list: faults.pushLosses) { writer, loss in
      writer.write(optional: loss.device) { $0.write($1) }
      writer.write(count: loss.remaining)
    }
    write(faults.holdsPushes)
    write(optional: faults.limits) { $0.write($1) }
    write(list: faults.devices) { $0.write($1) }
    write(count: faults.lastOrder)
    write(list: faults.orders(after: 0)) { $0.write($1) }
  }

  private mutating func write(_ rule: FaultRule) {
    write(count: rule.number)
    switch rule.action {
    case .fail(let error):
      write(UInt8(0))
      write(error)
    case .lose(let error):
      write(UInt8(1))
      write(error)
    case .delay(let seconds):
      write(UInt8(2))
      write(seconds)
    case .hold(let point):
      write(UInt8(3))
      write(point.rawValue)
    }
    write(rule.scope)
    write(count: rule.left)
  }

  private mutating func write(_ scope: RequestScope) {
    write(optional: scope.kind) { $0.write($1.rawValue) }
    write(optional: scope.device) { $0.write($1) }
  }

  private mutating func write(_ limits: ServerLimits) {
    for size in ServerLimits.sizes { write(count: limits[keyPath: size]) }
    write(limits.fixesFieldKinds)
    write(limits.childSavesChangeParents)
    write(optional: limits.throttle) { writer, throttle in
      writer.write(count: throttle.requests)
      writer.write(throttle.seconds)
    }
  }

  private mutating func write(_ setting: DeviceSetting) {
    write(setting.name)
    write(optional: setting.account) { $0.write($1) }
    write(optional: setting.availability) { $0.write($1.rawValue) }
    write(optional: setting.isOnline) { $0.write($1) }
  }

  private mutating func write(_ order: FaultOrder) {
    switch order {
    case .release(let scope):
      write(UInt8(0))
      write(scope)
    case .clear: write(UInt8(1))
    case .releasePushes: write(UInt8(2))
    case .deliver(let push, let device):
      write(UInt8(5))
      write(push)
      write(optional: push.environment) { $0.write($1.rawValue) }
      write(device)
    case .set(let setting):
      write(UInt8(4))
      write(setting)
    }
  }
}

extension ByteReader {
  fileprivate mutating func serverFaults() throws(ByteFormatError) -> ServerFaults {
    guard try byte() == ServerFaults.form else {
      throw fault("faults were written by another version")
    }
    var faults = ServerFaults()
    faults.version = try variable()
    faults.rules = try list { (reader) throws(ByteFormatError) in try reader.faultRule() }
    faults.lastRule = try number()
    faults.pushLosses = try list { (reader) throws(ByteFormatError) in
      PendingPushLoss(device: try reader.text(), remaining: try reader.number())
    }
    faults.holdsPushes = try bool()
    faults.limits = try optional { (reader) throws(ByteFormatError) in try reader.serverLimits() }
    faults.devices = try list { (reader) throws(ByteFormatError) in try reader.deviceSetting() }
    let lastOrder = try number()
    let orders = try list { (reader) throws(ByteFormatError) in try reader.faultOrder() }
    faults.setOrders(orders, last: lastOrder)
    return faults
  }

  private mutating func number() throws(ByteFormatError) -> Int {
    guard let number = Int(exactly: try variable()) else { throw fault("a number is too large") }
    return number
  }

  private mutating func text() throws(ByteFormatError) -> String? {
    try optional { (reader) throws(ByteFormatError) in try reader.string() }
  }

  private mutating func word<Word: RawRepresentable<String>>(
    _: Word.Type
  ) throws(ByteFormatError) -> Word {
    guard let word = Word(rawValue: try string()) else { throw fault("a word is unknown") }
    return word
  }

  private mutating func faultRule() throws(ByteFormatError) -> FaultRule {
    let number = try number()
    let action: FaultRule.Action =
      switch try byte() {
      case 0: .fail(try cloudError())
      case 1: .lose(try cloudError())
      case 2: .delay(try double())
      case 3: .hold(try word(HoldPoint.self))
      default: throw fault("the action of a fault is unknown")
      }
    return FaultRule(
      number: number, action: action, scope: try requestScope(), left: try self.number())
  }

  private mutating func requestScope() throws(ByteFormatError) -> RequestScope {
    let kind = try optional { (reader) throws(ByteFormatError) in
      try reader.word(RequestKind.self)
    }
    return RequestScope(kind: kind, device: try text())
  }

  private mutating func serverLimits() throws(ByteFormatError) -> ServerLimits {
    var limits = ServerLimits()
    for size in ServerLimits.sizes { limits[keyPath: size] = try number() }
    limits.fixesFieldKinds = try bool()
    limits.childSavesChangeParents = try bool()
    limits.throttle = try optional { (reader) throws(ByteFormatError) in
      ServerLimits.Throttle(requests: try reader.number(), seconds: try reader.double())
    }
    return limits
  }

  private mutating func deviceSetting() throws(ByteFormatError) -> DeviceSetting {
    DeviceSetting(
      name: try string(), account: try text(),
      availability: try optional { (reader) throws(ByteFormatError) in
        try reader.word(AccountAvailability.self)
      },
      isOnline: try optional { (reader) throws(ByteFormatError) in try reader.bool() })
  }

  private mutating func faultOrder() throws(ByteFormatError) -> FaultOrder {
    switch try byte() {
    case 0: .release(try requestScope())
    case 1: .clear
    case 2: .releasePushes
    // Earlier versions wrote no environment.
    case 3: .deliver(try push(), to: try string())
    case 4: .set(try deviceSetting())
    case 5: .deliver(try pushWithEnvironment(), to: try string())
    default: throw fault("an order is unknown")
    }
  }

  private mutating func pushWithEnvironment() throws(ByteFormatError) -> CloudPush {
    var push = try push()
    push.environment = try optional { (reader) throws(ByteFormatError) in
      try reader.word(CloudEnvironment.self)
    }
    return push
  }
}
