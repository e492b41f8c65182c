import CommandLineKit
import Foundation

extension ToolCommand {
  static let demo = ToolCommand(
    "demo",
    Verb("[--store STORE]") { arguments in
      let stores = try arguments.value("store").map { [try store(named: $0)] } ?? Store.all
      return { try await DemoStage.play(stores, $0.home, $0.output) }
    })

  private static func store(named name: String) throws(UsageError) -> Store {
    guard let store = Store.all.first(where: { $0.name == name }) else {
      let names = Store.all.map(\.name)
      throw UsageError(
        "there is no store \(quoted(name)); there are \(names.joined(separator: ", "))"
          + suggestion(for: name, of: names))
    }
    return store
  }
}

extension DemoStage {
  /// Plays the acts of some stores, then the scenes about all of them.
  ///
  /// - Parameter home: the home folder of the command; the demo uses `demo/` in it.
  /// - Returns: the exit code: 0 if all conditions held and nothing differs.
  fileprivate static func play(
    _ stores: [Store], _ home: Home, _ output: Output
  ) async throws -> CInt {
    let lock = try await home.use()
    let stageLock = try await Home.lock(
      home.item(Home.demoLock), .exclusive, what: "the demo's folder")
    defer { withExtendedLifetime((lock, stageLock)) {} }
    let start = ContinuousClock.now
    let place = Home(home.item("demo"))
    try removeFile(place.url)
    try place.create()
    let cloud: Cloud
    if let address = home.server {
      cloud = try await Cloud(forDemoAt: address)
      output.say(
        "Several devices and accounts in \(place.url.path), the server at "
          + "\(printable(address.url.absoluteString))")
    } else {
      output.say("Several devices and accounts, one server, all in \(place.url.path)")
      cloud = try Cloud(place)
    }
    var stage = try DemoStage(place: place, cloud, stores: stores, output: output)
    for store in stores { try await store.act.play(&stage) }
    try await stage.switchAccounts()
    if stores.count > 1 { try await stage.share() }
    return try await stage.end(since: start)
  }
}
