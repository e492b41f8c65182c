import CloudSync
import LoopbackServer

extension ConformanceTrial {
  /// The server refuses to make the zone, so that the first saves fail with `zoneNotFound`.
  func refusedZone() async throws {
    let device = try await device("first")
    cloud.fail(with: .serverRejectedRequest, of: .modifyZones, from: "first")
    try await device.write("1", as: "x")
    try await expect(
      ["x": "1"], from: device, .zoneNotFoundIgnored, "the zone was refused at first")
  }

  /// The zone is removed between the fetch and the send of a device.
  func zoneRemovedBeforeSend() async throws {
    let device = try await device("first")
    try await device.write("1", as: "old")
    try await device.settle()
    try checkZone()
    try await device.write("1", as: "x")
    let zone = suite.zone
    cloud.server.controls.runAfterCommit(
      in: RequestScope(kind: .fetchDatabaseChanges, device: "first")
    ) { [cloud] _ in try? cloud.removeZone(zone, of: "alice") }
    try await device.settle()
    try await device.settle()
    let what = "the zone was removed before a send"
    let server = try await witness()
    let seen = try await device.items()
    if let difference = difference(seen, from: server) {
      // A zone that the app itself made again is not reported as removed.
      let isGhost = self.difference(seen.filter { server[$0.key] != nil }, from: server) == nil
      report(
        isGhost ? .expiredTokenKeepsDeletedItems : .zoneRemovalStopsSync,
        "\(what): the device differs from the server: \(difference)")
    }
    try await device.write("1", as: "new")
    try await device.settle()
    if try await witness()["new"] == nil {
      report(.zoneRemovalStopsSync, "\(what), then a new item: lost new")
    }
  }

  /// A device without unsent changes launches again: it must go on from its saved state.
  func relaunchAfterSync() async throws {
    let device = try await device("first")
    try await device.write("1", as: "a")
    try await device.settle()
    try await device.relaunch()
    try await device.settle()
    if device.fetchedFromBeginning {
      report(.stateNeverSaved, "after a launch with all changes sent, everything is fetched again")
    }
    if let difference = difference(try await device.items(), from: ["a": "1"]) {
      report(.crashLosesEdits, "after a launch with all changes sent: \(difference)")
    }
  }

  /// A device is offline when its user makes changes, and launches again before it is online.
  func relaunchWithUnsentChanges() async throws {
    let device = try await device("first")
    try await device.write("1", as: "a")
    if suite.canDelete { try await device.write("1", as: "deleted") }
    try await device.settle()
    device.link.isOnline = false
    try await device.write("1", as: "b")
    if suite.canDelete { try await device.delete("deleted") }
    try await device.sync()
    try await device.relaunch()
    device.link.isOnline = true
    try await device.settle()
    let expected = ["a": "1", "b": "1"]
    for seen in [try await device.items(), try await witness()] {
      guard let difference = difference(seen, from: expected) else { continue }
      return report(
        device.fetchedFromBeginning ? .stateNeverSaved : .crashLosesEdits,
        "after a launch with unsent changes: \(difference)")
    }
  }
}
