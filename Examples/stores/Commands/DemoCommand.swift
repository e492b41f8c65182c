import CommandLineKit
import Foundation

extension ToolCommand {
  /// Runs the demo.
  static let demo = ToolCommand(
    "demo", summary: "devices, accounts, conflicts, a crash: see it work",
    help: """
      Usage: stores demo [--store NAME]

      Runs the demo of each store, or of one: anna's phone and desk and ben's tablet work with real
      input, lose the network, edit the same items and resolve the conflicts. Then another user
      signs in on a device, and at the end all content is compared byte for byte with the server.
      The files stay in HOME/demo. The exit code is 0 if nothing differs.

      With an HTTP server it needs the control token, because several accounts sign in. It uses
      separate containers, which stay on the server. To drop a response, the server must run with
      --fault-control.

      """,
    usages: ["[--store NAME]"]
  ) { arguments in
    let stores: [Store]
    if let name = arguments.value("store") {
      guard let store = Store.all.first(where: { $0.name == name }) else {
        let names = Store.all.map(\.name)
        throw UsageError(
          "there is no store \(quoted(name)); there are \(names.joined(separator: ", "))"
            + suggestion(for: name, of: names))
      }
      stores = [store]
    } else {
      stores = Store.all
    }
    return { invocation in
      try await Demo(home: invocation.home, stores: stores, output: invocation.output).run() ? 0 : 1
    }
  }
}

/// The demo: the acts of some stores, then the scenes about all of them.
struct Demo: Sendable {
  /// The home folder of the command; the demo uses `demo/` in it.
  let home: Home
  let stores: [Store]
  let output: Output

  /// The folder of the demo's server and devices.
  var place: Home { Home(home.item("demo")) }

  /// Runs the demo.
  ///
  /// - Returns: whether all conditions held and nothing differs.
  func run() async throws -> Bool {
    let lock = try await home.use()
    let stageLock = try await Home.lock(
      home.item(Home.demoLock), .exclusive, what: "the demo's folder")
    defer { withExtendedLifetime((lock, stageLock)) {} }
    let clock = ContinuousClock()
    let start = clock.now
    if FileManager.default.fileExists(atPath: place.url.path) {
      try FileManager.default.removeItem(at: place.url)
    }
    try place.create()
    var stage = try DemoStage(place: place, try await cloud(), stores: stores, output: output)
    for store in stores { try await store.act.play(&stage) }
    try await stage.switchAccounts()
    if stores.count > 1 { try await stage.share() }
    let (ending, words) = try await stage.end { (clock.now - start) / .seconds(1) }
    for difference in ending.differences.prefix(20) { output.note("differs: \(difference)") }
    for failure in ending.failures { output.note("did not hold: \(failure)") }
    try output.result(ending, words)
    return ending.isGood
  }

  /// The server of the demo; prints its place.
  private func cloud() async throws -> any WatchedCloud {
    switch home.server {
    case .home:
      output.say("Several devices and accounts, one server, all in \(place.url.path)")
      return try HomeCloud(place)
    case .web(let address):
      let cloud = try await WatchedWebCloud(address)
      output.say(
        "Several devices and accounts in \(place.url.path), the server at "
          + "\(printable(address.url.absoluteString))")
      return cloud
    }
  }
}
