import CloudSync
import CommandLineKit
import Foundation

/// The state of the demo: its devices, and the conditions that did not hold.
struct DemoStage {
  let place: Home
  let output: Output
  let cloud: Cloud
  let stores: [Store]

  let input: DemoInput

  /// The conditions that did not hold.
  private(set) var failures: [String] = []

  private var scene = 0
  private var running: [String: DemoDevice] = [:]

  init(place: Home, _ cloud: Cloud, stores: [Store], output: Output) throws {
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

  /// An app on anna's phone and on her desk.
  mutating func both<App: StoreApp>(
    _ app: App.Type
  ) async throws -> (phone: DemoApp<App>, desk: DemoApp<App>) {
    (try await phone().with(app), try await desk().with(app))
  }

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

  mutating func begin(_ title: String) {
    scene += 1
    output.endProgress()
    output.say("\n" + output.terminal.styled("\(scene). \(title)", .bold))
  }

  /// Prints a text, indented, in as many lines as the terminal needs.
  func tell(_ line: String) { output.say(fitted("   \(line)")) }

  /// A text in as many lines as the terminal needs.
  func fitted(_ text: String) -> String {
    output.terminal.width.map { FittedText.lines(text, width: $0) } ?? text
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
    let before = device.link.transport.requestCount
    let start = ContinuousClock.now
    try await body()
    let requests = device.link.transport.requestCount - before
    return "\(count(requests, "request")), \(hundredths(since: start)) s"
  }

  /// Syncs an app on a device and prints the duration and the number of requests.
  ///
  /// - Parameter what: the beginning of the sentence, such as `sent 3 ideas`.
  func sync<App>(_ device: DemoApp<App>, _ what: (App) -> String) async throws {
    let cost = try await output.following(device.app) {
      try await measure(device.device) { _ = try await device.app.sync() }
    }
    tell("\(what(device.app)): \(cost)")
  }

  /// Sends the items of one device to another, and prints how many there are on each.
  func exchange<App>(
    _ sender: DemoApp<App>, _ receiver: DemoApp<App>, _ items: (App) -> String
  ) async throws {
    try await sync(sender) { "sent \(items($0))" }
    try await sync(receiver) { "received \(items($0))" }
  }

  /// Syncs an app on some devices in turn, twice, so that changes reach all of them.
  func settle<App>(_ devices: DemoApp<App>...) async throws {
    for _ in 0..<2 {
      for device in devices { _ = try await device.app.sync() }
    }
  }

  /// Checks that the content of an app is equal to the byte on two devices.
  mutating func compare<App>(_ first: DemoApp<App>, _ second: DemoApp<App>) {
    let same = first.app.seen == second.app.seen
    let (name, other) = (first.device.name, second.device.name)
    check(same, "\(App.name) is the same on the \(name) and the \(other)")
    tell("the same as on the \(name), to the byte: \(yesOrNo(same))")
  }

  /// Disconnects some devices while `body` runs.
  func offline<App, Result>(
    _ devices: DemoApp<App>..., while body: () async throws -> Result
  ) async throws -> Result {
    let transports = devices.map(\.device.link.transport)
    for transport in transports { transport.setOnline(false) }
    defer { for transport in transports { transport.setOnline(true) } }
    return try await body()
  }
}

func yesOrNo(_ isTrue: Bool) -> String { isTrue ? "yes" : "no" }

/// The seconds since `start`, rounded to two places.
func hundredths(since start: ContinuousClock.Instant) -> Double {
  ((ContinuousClock.now - start) / .seconds(1) * 100).rounded() / 100
}
