import Foundation
import Testing

/// A running server and a browser with its console.
///
/// Needs Chromium (`apt-get install chromium`): without it a test checks nothing, and says so; with
/// the environment variable `CI` it fails.
struct ConsoleWorld {
  let cloud: ServedCloud
  let browser: Browser
  private let tool: ServerTool

  /// Runs a test against a server with one record for each name, and its console.
  ///
  /// It runs at high priority. Otherwise each of its many short steps would wait until all other
  /// tests had run for a moment.
  static func run(
    _ records: [String] = ["milk"],
    _ body: @escaping @Sendable (ConsoleWorld) async throws -> Void
  ) async throws {
    try await Task(priority: .high) {
      guard let program = InstalledProgram.browser() else { return }
      let tool = try ServerTool()
      let cloud = try await tool.serve("--fault-control")
      for name in records { #expect(try await cloud.save(name) == 200) }
      let browser = try await Browser(program, folder: tool.folder)
      let world = ConsoleWorld(cloud: cloud, browser: browser, tool: tool)
      try await browser.open("\(cloud.url)/console#token=\(cloud.controlToken)")
      let content = records.isEmpty ? "Nothing stored yet" : "\(records.count) record"
      // An element that appears later would move those that a test is about to click.
      try await browser.wait(
        for: "says('main h2', '\(content)') && place('#accounts li')"
          + " && place('#fault')")
      try await body(world)
      try await browser.close()
      #expect(await cloud.stop() == 0)
    }.value
  }

  /// Sends operations on records of the account `default`, which must succeed.
  ///
  /// - Parameter zone: The name of the zone, which is made if it does not exist; `nil` for the
  ///   default zone.
  func modify(_ operations: String, in zone: String? = nil) async throws {
    var zoneID = ""
    if let zone {
      zoneID = #""zoneID":{"zoneName":"\#(zone)"},"#
      let body = #"{"operations":[{"operationType":"create","zone":{\#(zoneID.dropLast())}}]}"#
      #expect(try await cloud.post("zones/modify", Data(body.utf8)).status == 200)
    }
    let body = "{\(zoneID)\"operations\":[\(operations)]}"
    let answer = try await cloud.post("records/modify", Data(body.utf8))
    #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
  }

  /// Adds the zone `shop` with the record `tea`.
  func addShop() async throws {
    try await modify(
      #"{"operationType":"create","record":{"recordType":"Note","recordName":"tea"}}"#, in: "shop")
  }

  /// The value of a field as the server stores it, in JSON.
  func value(of field: String, in record: String) async throws -> String {
    try await browser.text(
      """
      ask('records', {container: 'iCloud.test', account: 'default', zone: '_defaultZone',
        order: 'latest', record: '\(record)'})
        .then(({records}) => JSON.stringify(records[0].fields['\(field)'].value))
      """)
  }

  /// Changes the faults of the server.
  func order(_ body: String) async throws {
    try await browser.read("ask('faults', null, {\(body)}).then(() => 0)")
  }

  /// Waits until the page shows all events, and asks for nothing.
  func waitUntilIdle() async throws {
    let last = try await browser.read("ask('status').then(({lastEvent}) => lastEvent)") as? Int
    try await browser.wait(for: "feed[0]?.number >= \(last ?? 0) && !loading && !planned")
  }

  /// Waits until a fault holds a request.
  func waitForHeldRequest() async throws {
    try await browser.read(
      "(async () => { while (!(await ask('faults')).heldRequests.length); })()")
  }

  /// A path in the folder of the test.
  func path(_ name: String) -> String { tool.path(name) }
}

/// All tests of the console, one after the other: each has a browser, which takes much memory.
@Suite("The console", .serialized)
enum ConsoleSuite {}
