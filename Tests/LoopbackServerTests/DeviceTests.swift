import CloudProtocol
import CloudSyncTesting
import Records
import Testing

@testable import LoopbackServer

@Suite("Devices")
struct DeviceTests {
  @Test("One name is one device; its account can sign in, sign out and switch")
  func deviceNameIdentifiesOneDevice() async throws {
    let world = World()
    let again = world.server.device("phone")
    #expect(again === world.phone)
    #expect(again.account == "alice")
    #expect(world.takeHeard() == [])
    let alice = try await user(of: world.phone)
    let bob = try await user(of: world.other)
    #expect(alice != bob)
    world.phone.signIn(as: "alice")
    #expect(world.takeHeard() == [], "no change, no signal")
    _ = world.server.device("phone", signedInAs: "bob")
    #expect(world.takeHeard() == ["phone account"])
    #expect(try await world.phone.send(who) == .currentUser(bob))
    #expect(
      await outcome(of: call("1", .fetchCurrentUser, expecting: alice), on: world.phone)
        == "notAuthenticated")
    world.phone.signOut()
    #expect(world.phone.account == nil)
    #expect(await outcome(of: who, on: world.phone) == "notAuthenticated")
    world.phone.signIn(as: "")
    #expect(await outcome(of: who, on: world.phone) == "invalidArguments")
    world.phone.signIn(as: "alice")
    #expect(world.takeHeard() == ["phone account", "phone account", "phone account"])
    #expect(try await world.phone.send(who) == .currentUser(alice))
    world.close()
  }

  /// Proves CS-52, SC-10.
  @Test("With an account that is not ready or restricted, calls fail with the error of that state")
  func unavailableAccountFailsCalls() async throws {
    let world = World()
    for (availability, code) in [
      (AccountAvailability.temporarilyUnavailable, "accountTemporarilyUnavailable"),
      (.restricted, "notAuthenticated"), (.couldNotDetermine, "notAuthenticated"),
      (.available, "ok"),
    ] {
      world.phone.setAvailability(availability)
      world.phone.setAvailability(availability)
      #expect(world.takeHeard() == ["phone account"])
      #expect(await outcome(of: who, on: world.phone) == code)
    }
    world.close()
  }

  /// Proves CS-99.
  @Test("An offline device fails requests, loses the current answer, and merges waiting pushes")
  func offlineDeviceFailsRequestsAndMergesPushes() async throws {
    let world = World()
    try await world.prepare()
    world.tablet.isOnline = false
    #expect(await outcome(of: who, on: world.tablet) == "networkUnavailable")
    for name in ["a", "b"] { #expect(await outcome(of: saving(name), on: world.phone) == "ok") }
    #expect(world.takeHeard() == [])
    world.tablet.isOnline = true
    #expect(world.takeHeard() == ["tablet network", "tablet all"])
    world.tablet.isOnline = true
    #expect(world.takeHeard() == [])
    world.controls.hold(next: 1, at: .afterCommit)
    async let answer = outcome(of: saving("c"), on: world.phone)
    await world.controls.waitForHeldRequests(1)
    world.phone.isOnline = false
    world.controls.release()
    #expect(await answer == "networkFailure")
    #expect(try world.names() == ["a", "b", "c"])
    #expect(world.takeHeard() == ["tablet all"])

    // What waited for one account is not told to the next.
    #expect(await outcome(of: saving("d"), on: world.tablet) == "ok")
    world.phone.signIn(as: "bob")
    world.phone.isOnline = true
    #expect(world.takeHeard() == ["phone account", "phone network"])
    world.close()
  }

  @Test("A switch of account while a request is held: nothing lands in the other's database")
  func switchInFlight() async throws {
    let world = World()
    try await world.prepare()
    let alice = try await user(of: world.phone)
    _ = try await world.other.send(call("zone", .modifyZones(ModifyZones(save: [zoneA]))))
    world.controls.hold(next: 1)
    var save = saving("a")
    save.expectedUser = alice
    async let answer = outcome(of: save, on: world.phone)
    await world.controls.waitForHeldRequests(1)
    world.phone.signIn(as: "bob")
    world.controls.release()
    #expect(await answer == "notAuthenticated")
    #expect(try world.names() == [])
    #expect(try world.server.records(in: zoneA, container: "c", account: "bob") == [])
    #expect(world.takeHeard() == ["phone account"])
    world.close()
  }

  @Test("Of too many remote devices those without listeners are removed")
  func unusedRemoteDevicesAreRemoved() {
    let server = LoopbackServer()
    let listening = server.remoteDevice("listening", account: "alice")
    let observation = listening.observeSignals { _ in }
    for number in 0..<5_000 { _ = server.remoteDevice("page \(number)", account: "alice") }
    let names = server.pushDispatcher.devices.map(\.name)
    #expect(names.count <= PushDispatcher.mostDevices && PushDispatcher.mostDevices == 4_096)
    #expect(names.contains("listening") && names.contains("page 4999"))
    observation.stop()
    server.close()
  }

  @Test("A released listener receives nothing more")
  func releasedListenerReceivesNothing() {
    let server = LoopbackServer()
    let phone = server.device("phone")
    var observation: (any SignalObservation)? = phone.observeSignals { _ in }
    #expect(phone.observerCount == 1)
    observation?.stop()
    observation?.stop()
    #expect(phone.observerCount == 0)
    observation = phone.observeSignals { _ in }
    #expect(phone.observerCount == 1 && observation != nil)
    observation = nil
    #expect(phone.observerCount == 0)
    server.close()
  }

  @Test("A closed server answers nothing and releases every waiting call")
  func closedServerReleasesWaiters() async throws {
    let world = World()
    try await world.prepare()
    world.controls.hold()
    async let held = outcome(of: saving("a"), on: world.phone)
    await world.controls.waitForHeldRequests(1)
    async let waiting: Void = world.controls.waitForHeldRequests(7)
    world.server.close()
    #expect(await held == "networkFailure")
    await waiting
    #expect(await outcome(of: who, on: world.phone) == "networkFailure")
    #expect(throws: CloudError.self) { try world.names() }
    #expect(throws: CloudError.self) { try world.server.checkForForeignChanges() }
    world.close()
  }

  @Test("A watch checks for foreign changes at each tick of the clock, until the server closes")
  func watchChecksForeignChangesEachTick() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let clock = SimulatedClock()
    let first = try LoopbackServer(path: file.path, delayClock: clock)
    let second = try LoopbackServer(path: file.path)
    let phone = first.device("phone", signedInAs: "alice")
    let (pushes, continuation) = AsyncStream.makeStream(of: CloudSignal.self)
    let observation = phone.observeSignals { continuation.yield($0) }
    let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    _ = try await phone.send(
      call("s", .modifySubscriptions(ModifySubscriptions(save: [subscription]))))
    let watch = first.watchForForeignChanges(every: .seconds(2))
    await clock.waitForSleepers(1)
    _ = try await second.device("tablet", signedInAs: "alice").send(
      call("z", .modifyZones(ModifyZones(save: [zoneA]))))
    clock.advance(by: .seconds(2))
    var iterator = pushes.makeAsyncIterator()
    #expect(
      await iterator.next()
        == .push(
          CloudPush(
            container: "c", database: .private, subscription: SubscriptionID("all"),
            environment: .development)))
    await clock.waitForSleepers(1)
    observation.stop()
    first.close()
    await watch.value
    #expect(clock.sleeperCount == 0)
    second.close()
    #expect(file.contents.count == 1)
  }
}
