import CommandLineKit
import Foundation

extension ToolCommand {
  /// Shows the stores at work.
  static let demo = ToolCommand(
    "demo", summary: "devices, accounts, conflicts, a crash: see it work",
    help: """
      Usage: stores demo [--store NAME]

      Plays the act of each store, or of one: anna's phone and desk, and ben's tablet, work with
      real input, lose the network, edit the same things and settle it. Then somebody else signs in
      on a device, and in the end everything is compared byte for byte with the server. Leaves its
      files in HOME/demo. Ends with 0 when nothing differs.

      With a server by HTTP it needs the control token, as several accounts sign in. It uses
      containers of its own there and leaves them. Losing an answer needs a server with
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
            + hint(name, names))
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

/// The demonstration: the acts of some stores, then what concerns all of them.
struct Demo: Sendable {
  /// The home the person gave; the demo stays in `demo/` of it.
  let home: Home
  let stores: [Store]
  let output: Output

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
    var stage = try DemoStage(place: place, try await cloud(), stores: stores, output: output)
    for store in stores { try await store.act?.play(&stage) }
    try await stage.switchAccounts()
    if stores.count > 1 { try await stage.share() }
    let (ending, words) = try await stage.end { (clock.now - start) / .seconds(1) }
    for difference in ending.differences.prefix(20) { output.note("differs: \(difference)") }
    for failure in ending.failures { output.note("did not hold: \(failure)") }
    try output.result(ending, words)
    return ending.isGood
  }

  /// The server to play with; says where it is.
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
