import CommandLineKit
import Foundation
import SyncSupport

/// The demonstration: two devices, two accounts, a conflict, an account switch, two crashes.
struct Demo: Sendable {
  /// The home the person gave; the demo stays in `demo/` of it.
  let home: Home
  let output: Output

  /// What the demo ended with, as `--json` shows it.
  struct Ending: Encodable {
    var devices: Int
    var tabs: Int
    var clipboardEntries: Int
    var results: Int
    var differences: [String]
    var failures: [String]
    var seconds: Double
  }

  /// Where the demo keeps its own server and devices.
  var place: Home { Home(home.item("demo")) }

  /// Shows everything.
  ///
  /// - Returns: whether everything held and nothing differs.
  func run() async throws -> Bool {
    let lock = try await home.use()
    let stageLock = try await FileLock(
      home.item(Home.demoLock).path, .exclusive, what: "the demo's folder")
    defer { withExtendedLifetime((lock, stageLock)) {} }
    let clock = ContinuousClock()
    let start = clock.now
    if FileManager.default.fileExists(atPath: place.url.path) {
      try FileManager.default.removeItem(at: place.url)
    }
    try place.create()
    let cloud: any WatchedCloud
    switch home.server {
    case .home:
      cloud = try HomeCloud(place)
      output.say("Two devices, two accounts, one server, all in \(place.url.path)")
    case .web(let address):
      cloud = try await WatchedWebCloud(address)
      output.say(
        "Two devices, two accounts in \(place.url.path), the server at "
          + "\(printable(address.url.absoluteString))")
    }
    var stage = try DemoStage(place: place, cloud, output: output)
    try await stage.importOnPhone()
    try await stage.fillDesk()
    try await stage.editOffline()
    try await stage.switchAccounts()
    try await stage.share()
    try await stage.crash()
    let ending = try await stage.end(seconds: (clock.now - start) / .seconds(1))
    let isGood = ending.differences.isEmpty && ending.failures.isEmpty
    for difference in ending.differences.prefix(20) { output.note("differs: \(difference)") }
    for failure in ending.failures { output.note("did not hold: \(failure)") }
    try output.result(
      ending,
      "\nconverged: \(ending.devices) devices, \(ending.tabs) tabs, "
        + "\(ending.clipboardEntries) clipboard entries, \(ending.results) results, "
        + "\(ending.differences.count) differences")
    return isGood
  }
}
