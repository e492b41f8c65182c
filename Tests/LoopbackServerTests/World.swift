import CloudProtocol
import CloudSyncTesting
import Records
import Synchronization
import Testing

@testable import LoopbackServer

/// A server in memory with two devices of alice and one of bob, all of which listen.
final class World: Sendable {
  let clock = SimulatedClock()
  let server: LoopbackServer
  let phone: LoopbackDevice
  let tablet: LoopbackDevice
  let other: LoopbackDevice
  private let heard = Mutex<[String]>([])
  private let observations = Mutex<[any SignalObservation]>([])

  var controls: FaultControls { server.controls }

  init() {
    server = LoopbackServer(
      clock: { Timestamp(secondsSinceReferenceDate: 1_000) }, delayClock: clock, identity: 1)
    phone = server.device("phone", signedInAs: "alice")
    tablet = server.device("tablet", signedInAs: "alice")
    other = server.device("other", signedInAs: "bob")
    for device in [phone, tablet, other] {
      let name = device.name
      let observation = device.observeSignals { [weak self] signal in
        let text =
          switch signal {
          case .accountChanged: "account"
          case .push(let push): push.subscription.rawValue
          case .networkReturned: "network"
          }
        self?.heard.withLock { $0.append("\(name) \(text)") }
      }
      observations.withLock { $0.append(observation) }
    }
  }

  /// The signals that the devices received since the last call.
  func takeHeard() -> [String] {
    heard.withLock { heard in
      defer { heard = [] }
      return heard
    }
  }

  /// Makes alice's zone and subscription.
  func prepare() async throws {
    _ = try await phone.send(call("zone", .modifyZones(ModifyZones(save: [zoneA]))))
    let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    _ = try await phone.send(
      call("subscribe", .modifySubscriptions(ModifySubscriptions(save: [subscription]))))
    controls.forgetRequests()
    _ = takeHeard()
  }

  /// The names of alice's records as they are on the server.
  func names() throws -> [String] {
    try server.records(in: zoneA, container: "c", account: "alice").map(\.id.name)
  }

  /// Ends the world and proves that nothing is left over.
  func close(_ location: SourceLocation = #_sourceLocation) {
    #expect(controls.heldRequests.isEmpty, sourceLocation: location)
    #expect(controls.openRequestCount == 0, sourceLocation: location)
    #expect(controls.heldPushCount == 0, sourceLocation: location)
    #expect(controls.remainingFaultCount == 0, sourceLocation: location)
    #expect(clock.sleeperCount == 0, sourceLocation: location)
    for observation in observations.withLock({ $0 }) { observation.stop() }
    #expect(phone.observerCount == 0, sourceLocation: location)
    #expect(takeHeard() == [], sourceLocation: location)
    server.close()
    server.close()
    #expect(server.isClosed, sourceLocation: location)
  }
}

func call(
  _ id: String, _ request: CloudRequest, expecting user: UserID? = nil
) -> CloudCall {
  CloudCall(
    container: "c", database: .private, expectedUser: user, requestID: id, request: request)
}

/// A save of one new record called `name`, under that request ID.
func saving(_ name: String) -> CloudCall {
  let record = Record(id: RecordID(name: name, zone: zoneA), type: "T")
  return call(name, .modifyRecords(ModifyRecords(save: [RecordSave(record)])))
}

let who = call("who", .fetchCurrentUser)

/// The outcome of a request: `ok` or the code.
func outcome(of call: CloudCall, on device: LoopbackDevice) async -> String {
  do {
    _ = try await device.send(call)
    return "ok"
  } catch { return "\(error.code)" }
}

/// The user who is signed in on `device`, by the server's word.
func user(of device: LoopbackDevice) async throws -> UserID {
  guard case .currentUser(let user) = try await device.send(who) else {
    throw CloudError(.internalError, "another answer came than was asked for")
  }
  return user
}
