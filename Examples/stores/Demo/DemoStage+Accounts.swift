import CommandLineKit
import Foundation

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
    for store in stores { try await store.act?.addItem("carl was here", desk) }
    try await desk.sync()
    let carls = TraceSearch(of: desk.traces)
    let names = stores.filter { $0.act != nil }.map(\.name).joined(separator: ", ")
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
