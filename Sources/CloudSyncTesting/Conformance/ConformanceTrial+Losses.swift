import CloudSync
import LoopbackServer

extension ConformanceTrial {
  func removedZone(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) async throws {
    let device = try await device("first")
    try await device.write("1", as: "old")
    try await device.settle()
    try removeZone(reason)
    try await device.settle()
    if try await device.items()["old"] != nil {
      report(.removedZoneKeepsData, "zone \(reason): still there: old")
    }
    if try await witness()["old"] != nil {
      report(.removedZoneUploadedAgain, "zone \(reason): on the server again: old")
    }
    try await device.write("1", as: "new")
    try await device.settle()
    try await device.relaunch()
    try await device.settle()
    if try await witness()["new"] == nil {
      report(.zoneNotMadeAgain, "zone \(reason), then a new item: lost new")
    }
  }

  func encryptedDataReset() async throws {
    let device = try await device("first")
    try await device.write("1", as: "sent")
    try await device.settle()
    try await device.write("1", as: "unsent")
    try removeZone(.encryptedDataReset)
    try await expect(
      ["sent": "1", "unsent": "1"], from: device, .encryptedDataResetLosesData,
      "the zone was reset")
  }

  func expiredTokens(forgettingDeletions forgets: Bool) async throws {
    let device = try await device("first")
    let other = try await self.device("second")
    try await device.write("1", as: "stays")
    if suite.canDelete { try await device.write("1", as: "deleted elsewhere") }
    try await device.settle()
    try await other.settle()
    if suite.canDelete { try await other.delete("deleted elsewhere") }
    try await other.write("1", as: "made elsewhere")
    try await other.settle()
    try cloud.expireTokens(of: "alice", forgettingDeletions: forgets)
    try await device.write("1", as: "unsent")
    try await device.settle()
    try await device.settle()
    let expected = ["stays": "1", "made elsewhere": "1", "unsent": "1"]
    for seen in [try await witness(), try await device.items()] {
      guard let difference = difference(seen, from: expected) else { continue }
      var kept = seen
      kept["deleted elsewhere"] = nil
      let isGhost = self.difference(kept, from: expected) == nil
      report(
        isGhost ? .expiredTokenKeepsDeletedItems : .expiredTokenLosesChanges,
        forgets ? "and the server forgot deletions: \(difference)" : difference)
      break
    }
  }

  func accountSwitch(signsOut: Bool) async throws {
    let device = try await device("first")
    let how = signsOut ? "alice signed out, bob signed in" : "bob took alice's place"
    try await device.write("1", as: "sent")
    try await device.settle()
    try await device.write("1", as: "unsent")
    if signsOut {
      device.link.signOut()
      try await device.settle()
    }
    device.link.signIn(as: "bob")
    try await device.settle()
    let left = try await device.items().keys.sorted()
    if !left.isEmpty {
      report(
        .accountSwitchKeepsData, "\(how): still there: \(left.joined(separator: ", "))")
    }
    try await device.write("1", as: "new")
    try await device.settle()
    var server = try await witness(account: "bob")
    if server.removeValue(forKey: "new") == nil {
      report(.doesNotSync, "\(how): not on bob's server: new")
    }
    let stolen = server.keys.sorted()
    if !stolen.isEmpty {
      report(
        .accountSwitchUploadsData,
        "\(how): on bob's server: \(stolen.joined(separator: ", "))")
    }
    device.link.signIn(as: "alice")
    try await device.settle()
    let items = try await device.items()
    if items["sent"] != "1" {
      report(.returningAccountLacksData, "\(how), and alice came back: lost sent")
    }
    if items["new"] != nil {
      report(.accountSwitchKeepsData, "\(how), and alice came back: still there: new")
    }
  }

  func firstSignIn() async throws {
    let device = try await device("first", account: nil)
    try await device.write("1", as: "early")
    try await device.sync()
    device.link.signIn(as: "alice")
    try await expect(
      ["early": "1"], from: device, .signInDropsEdits, "made before the sign-in")
  }
}
