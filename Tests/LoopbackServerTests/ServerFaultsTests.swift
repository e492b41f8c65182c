import CloudProtocol
import Records
import Synchronization
import Testing

@testable import LoopbackServer

@Suite("Faults that servers share")
struct ServerFaultsTests {
  private var everything: ServerFaults {
    var faults = ServerFaults()
    faults.version = 7
    let actions: [FaultRule.Action] = [
      .fail(CloudError(.zoneBusy, "busy", retryAfter: 2)),
      .lose(CloudError(.networkFailure, "lost")), .delay(1.5), .hold(.beforeCommit),
      .hold(.afterCommit),
    ]
    for action in actions {
      faults.rules.append(
        FaultRule(
          number: faults.nextNumber(), action: action,
          scope: RequestScope(kind: .modifyRecords, device: "phone"), left: 3))
    }
    faults.rules[0].left = .max
    faults.rules[1].scope = .all
    faults.pushLosses = [
      PendingPushLoss(device: nil, remaining: 2), PendingPushLoss(device: "tablet", remaining: 1),
    ]
    faults.holdsPushes = true
    faults.limits = ServerLimits()
    faults.limits?.recordBytes = 5
    faults.limits?.childSavesChangeParents = true
    faults.limits?.throttle = ServerLimits.Throttle(requests: 3, seconds: 0.5)
    faults.keep(DeviceSetting(name: "phone", account: "alice", availability: .restricted))
    faults.keep(DeviceSetting(name: "phone", account: nil, isOnline: false))
    let push = CloudPush(
      container: "c", database: .private, subscription: SubscriptionID("s"), zone: zoneA,
      environment: .production)
    let orders: [FaultOrder] = [
      .release(RequestScope(device: "phone")), .clear, .releasePushes,
      .deliver(push, to: "phone"), .set(DeviceSetting(name: "phone", isOnline: true)),
    ]
    for order in orders { faults.give(order) }
    return faults
  }

  @Test("Every kind of fault, limit, setting and order is read as it was written")
  func faultsAreReadAsWritten() throws {
    #expect(try ServerFaults(bytes: everything.bytes) == everything)
    #expect(try ServerFaults(bytes: []) == ServerFaults())
    for count in 1..<everything.bytes.count {
      #expect(throws: ByteFormatError.self) {
        try ServerFaults(bytes: Array(everything.bytes.prefix(count)))
      }
    }
  }

  @Test("The obstacle of an account and the reset of encrypted data are read as they were written")
  func flagsOfErrorsAreReadAsWritten() throws {
    let obstacles: [CloudError.AccountObstacle?] = [nil, .restricted, .undetermined]
    for obstacle in obstacles {
      for isReset in [false, true] {
        var faults = ServerFaults()
        let error = CloudError(
          .notAuthenticated, "no", userDidResetEncryptedData: isReset, accountObstacle: obstacle)
        faults.rules.append(
          FaultRule(number: faults.nextNumber(), action: .fail(error), scope: .all, left: 1))
        #expect(try ServerFaults(bytes: faults.bytes) == faults)
      }
    }
  }

  @Test("The latest hundred orders are kept, and each is given once")
  func latestOrdersAreKept() {
    var faults = ServerFaults()
    for number in 1...150 { faults.give(.release(RequestScope(device: "\(number)"))) }
    #expect(faults.lastOrder == 150)
    #expect(faults.orders(after: 0).count == 100)
    #expect(
      faults.orders(after: 148)
        == [.release(RequestScope(device: "149")), .release(RequestScope(device: "150"))])
    #expect(faults.orders(after: 150) == [])
    #expect(faults.orders(after: 200) == [])
  }

  @Test("An offline device keeps 200 pushes, and then one of each subscription")
  func offlineDeviceKeepsFewPushes() {
    let state = DeviceState(name: "phone", account: "alice")
    state.setOnline(false)
    func push(_ subscription: String, _ number: Int) -> CloudPush {
      let record = RecordID(name: "\(number)", zone: ZoneID(name: "Z"))
      return CloudPush(
        container: "c", database: .public, subscription: SubscriptionID(subscription),
        query: QueryPush(record: record, reason: .created))
    }
    for number in 0..<1_000 { state.receive(push("first", number % 500)) }
    #expect(state.waitingCount == 200)
    for number in 0..<1_000 { state.receive(push("second", number)) }
    #expect(state.waitingCount == 201)
    let heard = Mutex<[CloudPush]>([])
    _ = state.add { signal in
      if case .push(let push) = signal { heard.withLock { $0.append(push) } }
    }
    state.setOnline(true)
    #expect(heard.withLock { Set($0.map(\.subscription.rawValue)) } == ["first", "second"])
    #expect(state.waitingCount == 0)
  }

  @Test("A device's latest setting holds, and usual states are not kept")
  func usualStatesAreNotKept() {
    var faults = ServerFaults()
    faults.keep(DeviceSetting(name: "phone", account: "alice", availability: .restricted))
    faults.keep(DeviceSetting(name: "phone", account: "alice", isOnline: false))
    faults.keep(DeviceSetting(name: "tablet", isOnline: false))
    func state(_ account: String) -> DeviceState {
      let state = DeviceState(name: "phone", account: account)
      for setting in faults.devices { state.set(setting) }
      return state
    }
    #expect(state("alice").availability == .restricted && !state("alice").isOnline)
    #expect(state("bob").availability == .available && state("bob").isOnline)
    faults.keep(DeviceSetting(name: "phone", availability: .couldNotDetermine))
    faults.keep(DeviceSetting(name: "phone", account: "bob", availability: .available))
    #expect(state("alice").availability == .couldNotDetermine && !state("alice").isOnline)
    #expect(state("bob").availability == .available && state("bob").isOnline)
    faults.keep(DeviceSetting(name: "phone", availability: .available))
    faults.keep(DeviceSetting(name: "phone", isOnline: true))
    #expect(faults.devices.map(\.name) == ["tablet"])
  }
}
