import CloudSync
import CommandLineKit
import Foundation

/// The state of the demo: its devices, and the conditions that did not hold.
struct DemoStage {
  let place: Home
  let output: Output
  let cloud: any WatchedCloud
  let stores: [Store]

  /// The input: files of this repository, or generated ones.
  let input: DemoInput

  /// The conditions that did not hold.
  private(set) var failures: [String] = []

  private var scene = 0
  private var running: [String: DemoDevice] = [:]

  init(place: Home, _ cloud: any WatchedCloud, stores: [Store], output: Output) throws {
    self.place = place
    self.output = output
    self.cloud = cloud
    self.stores = stores
    input = try DemoInput(orGenerateIn: place.item("generated"))
  }

  /// Anna's phone, started if it is not running.
  mutating func phone() async throws -> DemoDevice { try await device("phone", of: "anna") }

  /// Anna's other device, started if it is not running.
  mutating func desk() async throws -> DemoDevice { try await device("desk", of: "anna") }

  /// The device of ben, another user, started if it is not running.
  mutating func tablet() async throws -> DemoDevice { try await device("tablet", of: "ben") }

  private mutating func device(_ name: String, of account: String) async throws -> DemoDevice {
    if let device = running[name] { return device }
    let device = try await DemoDevice(place, cloud, name, account: account, stores: stores)
    running[name] = device
    return device
  }

  /// The devices that are running, by name.
  var devices: [DemoDevice] { running.values.sorted { $0.name < $1.name } }

  /// Stops the apps on a device and releases them.
  mutating func close(_ name: String) async throws {
    try await running[name]?.close()
    running[name] = nil
  }

  /// Releases a device's apps without stopping them.
  mutating func drop(_ name: String) { running[name] = nil }

  /// Begins the next scene.
  mutating func begin(_ title: String) {
    scene += 1
    output.endProgress()
    output.say("\n" + output.terminal.styled("\(scene). \(title)", .bold))
  }

  /// Prints a text, indented, in as many lines as the terminal needs.
  func tell(_ line: String) {
    let width = output.terminal.width
    output.say(width.map { FittedText.lines("   \(line)", width: $0) } ?? "   \(line)")
  }

  /// Prints a table, aligned on any output.
  func show(_ table: Table) {
    let width = output.terminal.width.map { $0 - 3 }
    let terminal = Terminal(
      isTerminal: true, width: width, hasColors: output.terminal.hasColors)
    for line in table.lines(for: terminal) { output.say("   \(line)") }
  }

  /// Records a condition that does not hold.
  mutating func check(_ holds: Bool, _ what: String) {
    if !holds { failures.append(what) }
  }
}

extension DemoStage {
  /// Runs `body` and returns its duration and the number of requests of `device`.
  func measure(
    _ device: DemoDevice, _ body: () async throws -> Void
  ) async throws -> String {
    let before = try await cloud.requestCount(of: device.name)
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    let seconds = ((clock.now - start) / .seconds(1) * 100).rounded() / 100
    let requests = try await cloud.requestCount(of: device.name) - before
    return "\(count(requests, "request")), \(seconds) s"
  }

  /// Syncs an app on a device and prints the duration and the number of requests.
  ///
  /// - Parameter what: the beginning of the sentence, such as `sent 3 ideas`.
  func sync<App: StoreApp>(
    _ app: App.Type, on device: DemoDevice, _ what: (App) -> String
  ) async throws {
    let opened = try device.app(App.self)
    let cost = try await output.following(opened) {
      try await measure(device) { _ = try await opened.sync() }
    }
    tell("\(what(opened)): \(cost)")
  }

  /// Syncs an app on some devices in turn, twice, so that changes reach all of them.
  func settle<App: StoreApp>(_ app: App.Type, _ devices: [DemoDevice]) async throws {
    for _ in 0..<2 {
      for device in devices { _ = try await device.app(App.self).sync() }
    }
  }

  /// Checks that the content of an app is equal to the byte on two devices.
  mutating func compare<App: StoreApp>(
    _ app: App.Type, _ first: DemoDevice, _ second: DemoDevice
  ) throws {
    let tables = (try first.app(App.self).seen, try second.app(App.self).seen)
    let same = tables.0 == tables.1
    check(same, "\(App.name) is the same on the \(first.name) and the \(second.name)")
    tell("the same as on the \(first.name), to the byte: \(same ? "yes" : "no")")
  }

  /// Disconnects some devices while `body` runs.
  func offline<Result>(
    _ devices: [DemoDevice], _ body: () async throws -> Result
  ) async throws -> Result {
    for device in devices { device.setOnline(false) }
    defer { for device in devices { device.setOnline(true) } }
    return try await body()
  }
}

/// A store's part of the demo.
///
/// After the acts, the demo changes the account of a device, searches it for remaining data, syncs
/// all devices, and compares them with the server.
struct DemoAct: Sendable {
  /// Runs the act: numbered scenes, each begun with ``DemoStage/begin(_:)``.
  ///
  /// It leaves the devices that it uses online and running.
  var play: @Sendable (inout DemoStage) async throws -> Void

  /// Adds one item called `name` for the account of the device.
  var addItem: @Sendable (_ name: String, DemoDevice) async throws -> Void
}

/// One device of the demo: a session that stays open, and its started apps.
struct DemoDevice: Sendable {
  let name: String
  let account: String
  let session: Session
  let link: LinkedDevice
  let apps: [any StoreApp]

  /// Starts the device called `name`, signed in as `account`, with the apps of some stores.
  init(
    _ home: Home, _ cloud: some Cloud, _ name: String, account: String, stores: [Store]
  ) async throws {
    self.name = name
    self.account = account
    session = try await Session(home, device: name, account: account, cloud: cloud)
    link = try session.device.link()
    apps = try session.apps(of: stores)
    for app in apps { try await app.start() }
  }

  /// One of its apps.
  ///
  /// - Throws: `ToolError` if the demo runs without it.
  func app<App: StoreApp>(_ type: App.Type) throws -> App {
    guard let app = apps.lazy.compactMap({ $0 as? App }).first else {
      throw ToolError("this demo has no \(App.name)")
    }
    return app
  }

  /// Connects the device to the network, or disconnects it.
  func setOnline(_ isOnline: Bool) { link.device.setOnline(isOnline) }

  /// The number of changes of all apps that wait to be sent.
  var unsent: Int { apps.reduce(0) { $0 + $1.unsent } }

  /// Syncs all apps.
  ///
  /// - Throws: the error of the first app that fails.
  func sync() async throws {
    for app in apps { _ = try await app.sync() }
  }

  /// Stops the apps.
  func close() async throws {
    for app in apps { try await app.stop() }
  }

  /// The content of each app, by the app's name.
  var seen: [String: RecordTable] {
    Dictionary(uniqueKeysWithValues: apps.map { (type(of: $0).name, $0.seen) })
  }

  /// The names and texts by which the user's data can be recognized, of all apps.
  var traces: Traces {
    apps.reduce(into: Traces(names: [], texts: [])) { all, app in
      let traces = app.traces
      all.names += traces.names
      all.texts += traces.texts
    }
  }
}
