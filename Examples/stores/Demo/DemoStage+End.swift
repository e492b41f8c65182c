import CommandLineKit
import Foundation

extension DemoStage {
  /// Syncs everything, compares all devices of each account with the server, and prints the result.
  ///
  /// - Returns: the exit code: 0 if all conditions held and nothing differs.
  mutating func end(since start: ContinuousClock.Instant) async throws -> CInt {
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
        let tables = own.map { (device: $0.name, table: $0.seen[type.name] ?? RecordTable()) }
        let found = tables.flatMap { device, table in
          table.differences(held).map { "\($0) on the \(device)" }
        }
        differences += found
        // An account that does not use the app has no data anywhere.
        if held.rows.isEmpty, tables.allSatisfy(\.table.rows.isEmpty) { continue }
        let counts = tables.map { "\($0.device) \($0.table.rows.count)" }
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
    let seconds = hundredths(since: start)
    tell("all of this took \(seconds) s")
    let parts = [count(devices.count, "device")] + inventory.map { count($0.count, $0.noun) }
    let words = "converged: \(parts.joined(separator: ", ")), \(differences.count) differences"
    let document: Document = [
      "devices": devices.count, "differences": differences, "failures": failures,
      "seconds": seconds,
      "items": Dictionary(inventory.map { ($0.noun, $0.count) }, uniquingKeysWith: +),
    ]
    for device in devices { try await close(device.name) }
    for difference in differences.prefix(20) { output.note("differs: \(difference)") }
    for failure in failures { output.note("did not hold: \(failure)") }
    try output.result(document, "\n" + fitted(words))
    return differences.isEmpty && failures.isEmpty ? 0 : 1
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
    try await desk.link.signIn(as: "carl")
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
    try await desk.link.signIn(as: "anna")
    try await desk.sync()
    let left = try carls.search(desk)
    check(left.inMemory == 0 && left.inFiles == 0, "nothing of carl is left for anna")
    let (seen, other) = (desk.seen, phone.seen)
    check(seen == other, "anna has everything again")
    let items = seen.values.reduce(0) { $0 + $1.rows.count }
    tell("anna signs in again: \(items) items back, nothing of carl's left")
  }
}
