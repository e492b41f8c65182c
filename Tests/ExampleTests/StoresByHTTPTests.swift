import Foundation
import Testing

@Suite("The stores tool with a server by HTTP")
struct StoresByHTTPTests {
  private static let wordle = "Wordle 1,956 2/6*\n\n⬛🟨🟩🟨🟩\n🟩🟩🟩🟩🟩\n"

  /// Proves SC-163.
  @Test("Two devices have the same contents in all three stores, with every kind of verb")
  func twoDevicesSyncThreeStoresOverHTTP() async throws {
    let (cloud, stores) = (try await ServerTool().serve(), try StoresTool())
    let phone = stores.device("phone", cloud.lettingIn)
    let desk = stores.device("desk", cloud.lettingIn)
    let opened = try await phone("--json", "tabs", "add", "Ideas.md", "-", input: "# Ideas\né 🧩")
    let document = try JSONSerialization.jsonObject(with: Data(opened.utf8)) as? [String: Any]
    let id = try #require(document?["id"] as? String)
    try await phone("clipboard", "add", "copied")
    try await phone("results", "add", input: Self.wordle)
    let sent = try await phone("sync")
    #expect(sent.contains("tabs and clipboard: sent 2") && sent.contains("results: 1 result, 0"))
    let received = try await desk("sync")
    #expect(received.contains("received 2") && received.contains("results: 1 result"))
    #expect(try await desk("tabs", "show", id) == "# Ideas\né 🧩")
    for device in [phone, desk] {
      #expect(try await device("clipboard", "list").contains("copied"))
      #expect(try await device("results", "list").contains("Wordle 2/6"))
    }

    try await phone("tabs", "edit", id, "--text", "earlier")
    try await desk("tabs", "edit", id, "--text", "later")
    try await phone("tabs", "sync")
    let words = try await desk("tabs", "sync")
    #expect(words.contains("1 conflict: 1 kept this device's version"), "\(words)")
    try await phone("clipboard", "sync")
    #expect(try await phone("tabs", "show", id) == "later")
    #expect(try await desk("results", "sync") == "results: 1 result, 0 waiting\n")
    #expect(try await desk("results", "status").contains("account: default"))

    let left = try await desk("account", "switch", "ben")
    #expect(left.contains("signed in as ben; 3 items of default removed"))
    try await desk("sync")
    #expect(try await desk("tabs", "list") == "no tabs\n", "ben has what is not his")
    try await desk("account", "switch", "default")
    try await desk("sync")
    #expect(try await desk("tabs", "show", id) == "later")
    try await phone("tabs", "sync", "off")
    try await phone("tabs", "sync", "on")
    #expect(try stores.snapshot().keys.allSatisfy { !$0.hasPrefix("server.sqlite") })
    #expect(await cloud.stop() == 0)
  }

  @Test("A server restarted at another port knows its devices, and another server has none")
  func devicesSurviveServerRestartAtOtherPort() async throws {
    let (tool, stores) = (try ServerTool(), try StoresTool())
    let file = tool.path("server.sqlite")
    let first = try await tool.serve("--data", file)
    let phone = stores.device("phone", first.lettingIn)
    try await phone("tabs", "add", "A", "--text", "a")
    try await phone("sync")
    try await phone("tabs", "add", "B", "--text", "b")
    #expect(await first.stop() == 0)
    let before = try stores.snapshot()
    let gone = try await stores.run(
      ["--device", "phone", "sync"], environment: first.lettingIn)
    #expect(gone.code == 69 && gone.output.isEmpty)
    #expect(gone.errors == "stores: no server answers at \(first.url); is it running?\n")
    #expect(try stores.snapshot() == before)

    let again = try await tool.serve("--data", file)
    #expect(
      try await stores.device("phone", again.lettingIn)("sync").contains("sent 1, received 0"))
    #expect(await again.stop() == 0)
    let other = try await tool.serve()
    let stranger = stores.device("phone", other.lettingIn)
    #expect(try await stranger("tabs", "list") == "no tabs\n")
    #expect(await other.stop() == 0)
  }

  @Test("An impossible request is refused with one sentence of explanation and changes nothing")
  func impossibleRequestIsRefusedWithReason() async throws {
    let stores = try StoresTool()
    let cloud = try await ServerTool().serve("--account", "default", "--account", "bob")
    let right = cloud.lettingIn
    let webToken = try #require(cloud.webAuthTokens["default"])
    let bobs = try #require(cloud.webAuthTokens["bob"])
    let byWebToken = ["--web-token", webToken]
    try await stores.good("tabs", "add", "A", "--text", "a", environment: right)
    let synced = try await stores.run(byWebToken + ["sync"], environment: right)
    #expect(synced.output.contains("sent 1"), "\(synced.errors)")
    func without(_ name: String) -> [String: String] { right.filter { $0.key != name } }
    func with(_ name: String, _ value: String) -> [String: String] {
      right.merging([name: value]) { $1 }
    }
    let cases: [([String], [String: String], CInt, String)] = [
      (["sync"], with("CLOUDSYNC_CONTROL_TOKEN", "x"), 77, "does not accept the control token"),
      (["sync", "--web-token", "x"], right, 77, "the ckWebAuthToken is invalid or has expired"),
      (["sync", "--web-token", bobs], right, 1, "belongs to another account than the device"),
      (["sync", "--server", "http://127.0.0.1:9"], right, 69, "no server answers at"),
      (["sync", "--server", "stores.sqlite"], right, 64, "is no address of a server"),
      (["sync", "--server", "ftp://127.0.0.1"], right, 64, "is no address of a server"),
      (["sync"], with("CLOUDSYNC_SERVER", "stores.sqlite"), 64, "CLOUDSYNC_SERVER is \"stores"),
      (["sync"], without("CLOUDSYNC_API_TOKEN"), 64, "the API token is missing"),
      (["sync"], without("CLOUDSYNC_CONTROL_TOKEN"), 64, "token of the account is missing"),
      (["sync", "--control-token", "a b"], right, 64, "is ASCII without blanks"),
      (["sync", "--web-token", "a", "--control-token", "b"], right, 64, "not both"),
      (["sync", "--api-token", "a"], [:], 64, "give --server URL"),
      (["demo"] + byWebToken, right, 1, "needs the server's control token"),
      (["--account", "zoe", "tabs", "list"], right, 1, "is signed in as \"default\""),
    ]
    let before = try stores.snapshot()
    for (arguments, environment, code, words) in cases {
      let run = try await stores.run(arguments, environment: environment)
      #expect(run.code == code && run.output.isEmpty, "\(arguments): \(run.output)")
      #expect(run.errors.hasPrefix("stores: ") && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == (code == 64 ? 2 : 1), "\(run.errors)")
      #expect(!run.errors.contains("Error Domain"), "\(run.errors)")
      let after = try stores.snapshot()
      let changed = before.keys.filter { before[$0] != after[$0] }
      #expect(changed.isEmpty, "\(arguments) changed \(changed)")
    }
    // Another app's token makes it another server to the tool, so a device of its own is made.
    let wrong = try await stores.run(["sync", "--api-token", "wrong"], environment: right)
    #expect(wrong.code == 77 && wrong.errors.contains("the ckAPIToken is missing or not valid"))
    try await stores.good("account", "sign-out", environment: right)
    let nobody = try await stores.run(["sync"], environment: right)
    #expect(nobody.code == 77 && nobody.errors.contains("no account is signed in on this device"))
    #expect(await cloud.stop() == 0)
  }

  /// Proves I2.
  @Test("A process killed after any request of a sync loses nothing and duplicates nothing")
  func killedSyncOverHTTPLosesNothing() async throws {
    let (cloud, stores) = (try await ServerTool().serve(), try StoresTool())
    let phone = stores.device("phone", cloud.lettingIn)
    var step = 0
    var endedWell = false
    while !endedWell {
      step += 1
      try await phone("tabs", "add", "T\(step)", "--text", "\(step)")
      let run = try await stores.run(
        ["--device", "phone", "tabs", "sync"],
        environment: cloud.lettingIn.merging(["CLOUDSYNC_STORES_DIE_AFTER_REQUEST": "\(step)"]) {
          $1
        })
      endedWell = run.code == 0
      #expect(endedWell || run.code == -SIGKILL, "step \(step): \(run.errors)")
      try #require(step < 40, "a sync needs ever more requests")
    }
    #expect(step > 4, "no request of a sync was interrupted")
    let desk = stores.device("desk", cloud.lettingIn)
    try await desk("tabs", "sync")
    for device in [phone, desk] {
      let list = try await device("tabs", "list").split(separator: "\n").map {
        String($0.dropFirst(40).split(separator: " ").first ?? "")
      }
      #expect(list.sorted() == (1...step).map { "T\($0)" }.sorted(), "\(list)")
    }
    #expect(await cloud.stop() == 0)
  }

  @Test("The watch command shows changes pushed by another device and its own, and exits cleanly")
  func watchShowsPushedAndOwnChanges() async throws {
    let (cloud, stores) = (try await ServerTool().serve(), try StoresTool())
    let watch = try RunningTool(
      stores.process(["--device", "desk", "--json", "tabs", "watch"], cloud.lettingIn))
    _ = try await watch.errors.line { $0.contains("watching 0 tabs of desk") }
    let phone = stores.device("phone", cloud.lettingIn)
    let clock = ContinuousClock()
    for name in ["first", "second"] {
      try await phone("tabs", "add", name, "--text", "b")
      try await phone("tabs", "sync")
      let sent = clock.now
      let line = try await watch.output.line { $0.contains(name) }
      #expect(line.contains(#""change":"opened""#), "\(line)")
      // Without a push it asks after 30 seconds.
      #expect(clock.now - sent < .seconds(20), "no push woke it up")
    }
    try await stores.device("desk", cloud.lettingIn)("tabs", "add", "own", "--text", "a")
    _ = try await watch.output.line { $0.contains("own") }
    watch.send(SIGINT)
    #expect(await watch.exitCode() == 0)
    #expect(await cloud.stop() == 0)
  }

  @Test("The demo succeeds inside cloudsync exec, twice on one server, with and without faults")
  func demoRunsInsideExecutedServer() async throws {
    let (server, stores) = (try ServerTool(), try StoresTool())
    let program = try BuiltTool.program("stores").path
    let run = try await server.run(
      [
        "exec", "--fault-control", "--", "sh", "-c",
        "cd / && \"$0\" demo && \"$0\" demo --store results", program,
      ],
      environment: ["CLOUDSYNC_HOME": stores.home.path])
    let plain = try await server.run(
      ["exec", "--", "sh", "-c", "cd / && exec \"$0\" demo", program],
      environment: ["CLOUDSYNC_HOME": stores.home.path])
    for (run, times) in [(run, 2), (plain, 1)] {
      #expect(run.code == 0 && run.errors.isEmpty, "\(run.output)\n\(run.errors)")
      let ends = run.output.split(separator: "\n").filter { $0.hasPrefix("converged: ") }
      #expect(ends.count == times && ends.allSatisfy { $0.hasSuffix(" 0 differences") }, "\(ends)")
      for words in ["the server at http://", "anna shares a folder", "anna's phone: yes"] {
        #expect(run.output.contains(words), "\(words)")
      }
      let leftOut = run.output.contains("left out, as the server runs without --fault-control")
      #expect(leftOut == (times == 1) && leftOut != run.output.contains("its answer does not"))
    }
    #expect(!FileManager.default.fileExists(atPath: stores.home.path + "/demo/server.sqlite"))
  }
}

extension ServedCloud {
  /// What lets the stores in, as every account.
  fileprivate var lettingIn: [String: String] {
    environment.merging(["CLOUDSYNC_API_TOKEN": apiToken]) { $1 }
  }
}

extension StoresTool {
  /// Runs commands as one device, expecting each to go well.
  struct Device {
    fileprivate let tool: StoresTool
    fileprivate let name: String
    fileprivate let environment: [String: String]

    @discardableResult
    func callAsFunction(_ arguments: String..., input: String = "") async throws -> String {
      let run = try await tool.run(
        ["--device", name] + arguments, input: Data(input.utf8), environment: environment)
      #expect(run.code == 0 && run.errors.isEmpty, "\(name) \(arguments): \(run.errors)")
      return run.output
    }
  }

  fileprivate func device(_ name: String, _ environment: [String: String]) -> Device {
    Device(tool: self, name: name, environment: environment)
  }
}
