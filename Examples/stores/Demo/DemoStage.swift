import ClipboardStore
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport
import TabStore

/// The demo's devices and what happened to them so far.
struct DemoStage {
  let place: Home
  let output: Output
  let cloud: any WatchedCloud
  let input: DemoInput

  /// What should have held and did not.
  private(set) var failures: [String] = []

  private var act = 0
  private var phoneDevice: DemoDevice?
  private var deskDevice: DemoDevice?

  init(place: Home, _ cloud: any WatchedCloud, output: Output) throws {
    self.place = place
    self.output = output
    self.cloud = cloud
    input = try DemoInput(orGenerateIn: place.item("generated"))
  }

  /// The phone, started when it is not running.
  mutating func phone() async throws -> DemoDevice {
    if let phoneDevice { return phoneDevice }
    let device = try await DemoDevice(place, cloud, "phone", account: "anna")
    phoneDevice = device
    return device
  }

  /// The desk, started when it is not running.
  mutating func desk() async throws -> DemoDevice {
    if let deskDevice { return deskDevice }
    let device = try await DemoDevice(place, cloud, "desk", account: "anna")
    deskDevice = device
    return device
  }

  /// Ends the app on the phone in good order and lets go of everything it had in memory.
  mutating func closePhone() async throws {
    try await phoneDevice?.close()
    phoneDevice = nil
  }

  /// Lets go of the phone's app as it is, without any last words to it.
  mutating func dropPhone() { phoneDevice = nil }

  /// Begins the next act.
  mutating func begin(_ title: String) {
    act += 1
    output.endProgress()
    output.say("\n\(act). \(title)")
  }

  /// Tells something, indented.
  func tell(_ line: String) { output.say("   \(line)") }

  /// Notes it when something does not hold.
  mutating func check(_ holds: Bool, _ what: String) {
    if !holds { failures.append(what) }
  }

  /// Runs `body` and says how long it took and how many requests `device` needed.
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

  /// Compares both devices with the server.
  mutating func end(seconds: Double) async throws -> Demo.Ending {
    begin("Everything against everything, byte for byte")
    let (phone, desk) = (try await phone(), try await desk())
    for device in [phone, desk, phone] { try await device.syncAll() }
    let cloud = try await cloud.records(of: "anna")
    var differences: [String] = []
    for device in [phone, desk] {
      let table = device.records()
      differences += table.differences(cloud).map { "\($0) on the \(device.name)" }
      check(device.unsent == 0, "the \(device.name) has sent everything")
      tell("\(device.name): \(table.rows.count) records; server: \(cloud.rows.count)")
    }
    try await phone.close()
    try await desk.close()
    return Demo.Ending(
      devices: 2, tabs: cloud.count("ScratchTab"),
      clipboardEntries: cloud.count("ClipboardEntry"), results: cloud.count("GameResult"),
      differences: differences, failures: failures, seconds: (seconds * 100).rounded() / 100)
  }
}
