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
