import CommandLineKit
import Foundation

/// The result of the demo, as `--json` shows it.
struct DemoEnding: Encodable {
  var devices: Int
  /// The number of anna's items, by their noun.
  var items: [String: Int]
  var differences: [String]
  var failures: [String]
  var seconds: Double

  /// Whether all conditions held and nothing differs.
  var isGood: Bool { differences.isEmpty && failures.isEmpty }
}

extension DemoStage {
  /// Syncs everything, then compares all devices of each account with the server.
  mutating func end(seconds: () -> Double) async throws -> (DemoEnding, words: String) {
    begin("Everything against everything, byte for byte")
    let phone = try await phone()
    _ = try await desk()
    for _ in 0..<3 { for device in devices { try await device.sync() } }
    for device in devices { check(device.unsent == 0, "the \(device.name) has sent everything") }
    var rows: [[Table.Cell]] = []
    var differences: [String] = []
    for account in Set(devices.map(\.account)).sorted() {
      let own = devices.filter { $0.account == account }
      let server = try await held(by: account)
      for type in Store.apps(of: stores) {
        let held = server[type.name] ?? RecordTable()
        var found: [String] = []
        var counts: [String] = []
        for device in own {
          let table = device.seen[type.name] ?? RecordTable()
          counts.append("\(device.name) \(table.rows.count)")
          found += table.differences(held).map { "\($0) on the \(device.name)" }
        }
        differences += found
        // An account that does not use the app has no data anywhere.
        if held.rows.isEmpty, own.allSatisfy({ $0.seen[type.name]?.rows.isEmpty != false }) {
          continue
        }
        rows.append([
          .init(type.name), .init(account), .init(counts.joined(separator: ", ")),
          "\(held.rows.count)", .init("\(found.count)", found.isEmpty ? .green : .red),
        ])
      }
    }
    show(
      Table(
        [
          .init("app"), .init("account"), .init("on each device", .text),
          .init("on the server", .number, isDetail: true), .init("differences", .number),
        ], rows))
    let inventory = phone.apps.flatMap(\.inventory)
    let ending = DemoEnding(
      devices: devices.count,
      items: Dictionary(inventory.map { ($0.noun, $0.count) }, uniquingKeysWith: +),
      differences: differences, failures: failures, seconds: (seconds() * 100).rounded() / 100)
    tell("all of this took \(ending.seconds) s")
    let parts = [count(devices.count, "device")] + inventory.map { count($0.count, $0.noun) }
    for device in devices { try await close(device.name) }
    let words = "converged: \(parts.joined(separator: ", ")), \(differences.count) differences"
    return (
      ending, "\n" + (output.terminal.width.map { FittedText.lines(words, width: $0) } ?? words)
    )
  }

  /// The data of an account on the server, by app: its records, or for an app without record types
  /// the content of a new device.
  private func held(by account: String) async throws -> [String: RecordTable] {
    let types = Store.apps(of: stores)
    var tables: [String: RecordTable] = [:]
    if types.contains(where: { !$0.recordTypes.isEmpty }) {
      let all = try await cloud.records(of: account)
      for type in types where !type.recordTypes.isEmpty {
        tables[type.name] = all.only(type.recordTypes)
      }
    }
    let others = stores.filter { $0.app.recordTypes.isEmpty }
    guard !others.isEmpty else { return tables }
    let auditor = try await DemoDevice(
      place, cloud, "auditor-of-\(account)", account: account, stores: others)
    try await auditor.sync()
    let seen = auditor.seen
    try await auditor.close()
    return tables.merging(seen) { $1 }
  }
}

extension DemoStage {
  /// Another user signs in on anna's desk, adds an item to each store, and leaves again.
  mutating func switchAccounts() async throws {
    begin("carl signs in on anna's desk")
    let (phone, desk) = (try await phone(), try await desk())
    for device in [phone, desk] { try await device.sync() }
    let annas = TraceSearch(of: desk.traces)
    let before = try annas.search(desk)
    tell(
      "before: \(before.inMemory) of \(annas.count) traces of anna in memory, "
        + "\(before.inFiles) in \(before.files) files")
    check(before.inMemory == annas.count && before.inFiles > 0, "the search finds anna's traces")
    try await desk.link.device.signIn(as: "carl")
    try await desk.sync()
    let after = try annas.search(desk)
    tell(
      "after: \(after.inMemory) in memory, \(after.inFiles) in "
        + "\(after.files) files (\(size(after.bytes)) searched)")
    check(after.inMemory == 0 && after.inFiles == 0, "nothing of anna is left for carl")
    for store in stores { try await store.act.addItem("carl was here", desk) }
    try await desk.sync()
    let carls = TraceSearch(of: desk.traces)
    let names = stores.map(\.name).joined(separator: ", ")
    tell("carl adds something of his own (\(names)), and syncs")
    check(carls.count > 0 && desk.unsent == 0, "what carl added is sent")
    try await desk.link.device.signIn(as: "anna")
    try await desk.sync()
    let left = try carls.search(desk)
    check(left.inMemory == 0 && left.inFiles == 0, "nothing of carl is left for anna")
    let (seen, other) = (desk.seen, phone.seen)
    check(seen == other, "anna has everything again")
    let items = seen.values.reduce(0) { $0 + $1.rows.count }
    tell("anna signs in again: \(items) items back, nothing of carl's left")
  }
}
