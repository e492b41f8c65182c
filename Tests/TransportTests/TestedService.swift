import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Synchronization

@testable import LoopbackServer

/// Something that answers calls: the bare machine, or a server around it.
///
/// A scenario sees nothing else, so it cannot tell which one it runs on.
protocol TestedService: Sendable {
  /// Sends `call` from `device`, on which `account` is signed in.
  func send(_ call: CloudCall, from device: String, of account: String?) async
    -> Result<CloudReply, CloudError>

  /// The pushes that came since the last look, as `device subscription zone`, in order.
  func takePushes() -> [String]

  /// Does what an administrator can do to the private database of `account`.
  func administer(_ act: Act, of account: String) throws

  /// Ends the service and says what was left over; nothing is right.
  func close() async -> [String]
}

/// The administrative actions.
enum Act: Sendable {
  case delete(ZoneID)
  case purge(ZoneID)
  case resetEncryptedData(ZoneID)
  case expireTokens(ZoneID?)
  case trim(ZoneID?)
  case quota(Int?)
}

/// The devices that listen for pushes, with their accounts.
let listeners: [(device: String, account: String)] = [
  ("phone", "alice"), ("tablet", "alice"), ("other", "bob"),
]

let containerID = "iCloud.example.transport"

/// The limits all services run with: small enough to be reached.
func smallLimits() -> ServerLimits {
  var limits = ServerLimits()
  limits.itemsPerRequest = 5
  limits.requestBytes = 4_000
  limits.recordBytes = 2_000
  limits.zoneChangesPage = 3
  limits.databaseChangesPage = 2
  return limits
}

/// A clock that moves one second at each look.
func tickingClock() -> @Sendable () -> Timestamp {
  let ticks = Ticks()
  return { ticks.next() }
}

private final class Ticks: Sendable {
  private let value = Mutex(0)

  func next() -> Timestamp {
    Timestamp(
      secondsSinceReferenceDate: Double(
        value.withLock { value in
          value += 1
          return value
        }))
  }
}

func describe(_ push: CloudPush, at device: String) -> String {
  "\(device) \(push.subscription.rawValue) \(push.zone?.name ?? "-")"
}

/// The machine itself over memory, with nothing around it but the test.
final class MachineService: TestedService {
  fileprivate struct Contents {
    var storage = MemoryStorage(identity: 7)
    var machine = CloudMachine(limits: CloudLimits(smallLimits()))
    var pushes: [String] = []
  }

  private let contents = Mutex(Contents())
  private let clock = tickingClock()

  func send(_ call: CloudCall, from device: String, of account: String?) async
    -> Result<CloudReply, CloudError>
  {
    let now = clock()
    return contents.withLock { contents in
      do {
        let user = try account.map {
          try contents.machine.createAccount($0, in: contents.storage).user
        }
        let answer = try contents.machine.answer(
          call, from: Caller(user: user, device: device), now: now, in: contents.storage)
        contents.note(answer.pushes)
        return answer.result
      } catch {
        return .failure(CloudError(.internalError, "\(error)"))
      }
    }
  }

  func takePushes() -> [String] {
    contents.withLock { contents in
      defer { contents.pushes = [] }
      return contents.pushes
    }
  }

  func administer(_ act: Act, of account: String) throws {
    let now = clock()
    try contents.withLock { contents in
      let user = try contents.machine.createAccount(account, in: contents.storage).user
      let database = DatabaseID(
        container: containerID, environment: .development, scope: .private, owner: user)
      let storage = contents.storage
      let machine = contents.machine
      let pushes: [OutgoingPush] = try storage.transaction {
        switch act {
        case .delete(let zone):
          return try machine.removeZone(
            zone, for: .deleted, in: database, now: now, storage: storage
          ).pushes
        case .purge(let zone):
          return try machine.removeZone(
            zone, for: .purged, in: database, now: now, storage: storage
          ).pushes
        case .resetEncryptedData(let zone):
          return try machine.removeZone(
            zone, for: .encryptedDataReset, in: database, now: now, storage: storage
          ).pushes
        case .expireTokens(let zone):
          return try machine.expireTokens(
            of: zone, in: database, now: now, storage: storage
          ).pushes
        case .trim(let zone):
          return try machine.trimTombstones(
            of: zone, in: database, now: now, storage: storage
          ).pushes
        case .quota(let bytes):
          try machine.setQuota(bytes, of: user, in: storage)
          return []
        }
      }
      contents.note(pushes)
    }
  }

  func close() async -> [String] { takePushes().map { "push \($0)" } }
}

extension MachineService.Contents {
  fileprivate mutating func note(_ orders: [OutgoingPush]) {
    for order in orders {
      for listener in listeners {
        guard let row = try? storage.account(named: listener.account), row.user == order.user,
          listener.device != order.exceptDevice
        else { continue }
        pushes.append(describe(order.push, at: listener.device))
      }
    }
  }
}

/// A server in this process.
final class LoopbackService: TestedService {
  let server: LoopbackServer
  let devices: [LoopbackDevice]
  private let observations: [any SignalObservation]
  private let pushes: Pushes
  private let cleanUp: @Sendable () -> Void

  private final class Pushes: Sendable {
    let values = Mutex<[String]>([])
  }

  convenience init(_ server: LoopbackServer, cleanUp: @escaping @Sendable () -> Void = {}) {
    self.init(
      server, devices: listeners.map { server.device($0.device, signedInAs: $0.account) },
      cleanUp: cleanUp)
  }

  /// A service whose pushes come to `devices`.
  init(
    _ server: LoopbackServer, devices: [LoopbackDevice], cleanUp: @escaping @Sendable () -> Void
  ) {
    self.server = server
    self.cleanUp = cleanUp
    let pushes = Pushes()
    self.pushes = pushes
    self.devices = devices
    observations = devices.map { device in
      let name = device.name
      return device.observeSignals { signal in
        guard case .push(let push) = signal else { return }
        pushes.values.withLock { $0.append(describe(push, at: name)) }
      }
    }
  }

  func send(_ call: CloudCall, from device: String, of account: String?) async
    -> Result<CloudReply, CloudError>
  {
    let device = server.device(device)
    if let account { device.signIn(as: account) } else { device.signOut() }
    do { return .success(try await device.send(call)) } catch { return .failure(error) }
  }

  func takePushes() -> [String] {
    pushes.values.withLock { values in
      defer { values = [] }
      return values
    }
  }

  func administer(_ act: Act, of account: String) throws {
    let controls = server.controls
    switch act {
    case .delete(let zone): try controls.deleteZone(zone, container: containerID, account: account)
    case .purge(let zone): try controls.purgeZone(zone, container: containerID, account: account)
    case .resetEncryptedData(let zone):
      try controls.resetEncryptedData(zone, container: containerID, account: account)
    case .expireTokens(let zone):
      try controls.expireTokens(of: zone, container: containerID, account: account)
    case .trim(let zone):
      try controls.trimTombstones(of: zone, container: containerID, account: account)
    case .quota(let bytes): try controls.setQuota(bytes, of: account)
    }
  }

  func close() async -> [String] {
    var left = takePushes().map { "push \($0)" }
    if server.controls.openRequestCount > 0 { left.append("open requests") }
    if !server.controls.heldRequests.isEmpty { left.append("held requests") }
    for observation in observations { observation.stop() }
    if devices.contains(where: { $0.observerCount > 0 }) { left.append("observers") }
    server.close()
    cleanUp()
    return left
  }
}
