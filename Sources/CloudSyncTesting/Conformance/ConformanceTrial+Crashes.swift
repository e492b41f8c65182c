import CloudSync

extension ConformanceTrial {
  /// A short story in which the app crashes once, or never.
  func crash(at step: Int?) async throws {
    let device = try await device("first")
    let other = try await self.device("second")
    try await other.write("1", as: "made elsewhere")
    try await other.settle()
    device.plan(crashAt: step)
    try await device.surely { try await device.write("1", as: "a") }
    if suite.canDelete {
      try await device.surely { try await device.write("1", as: "deleted here") }
    }
    try await device.sync()
    try await device.recover()
    try await other.write("1", as: "made later")
    // Once is enough: the zone exists, and nothing that this device writes is changed elsewhere.
    try await other.sync()
    if suite.canEdit { try await device.surely { try await device.write("2", as: "a") } }
    try await device.surely { try await device.write("1", as: "b") }
    if suite.canDelete { try await device.surely { try await device.delete("deleted here") } }
    try await device.sync()
    try await device.recover()
    let stepsUntilNow = device.plan.steps
    noteSteps(stepsUntilNow)
    try await device.settle()
    if try await device.recover() { try await device.settle() }
    let plan = device.plan
    let expected = [
      "a": suite.canEdit ? "2" : "1", "b": "1", "made elsewhere": "1", "made later": "1",
    ]
    for seen in [try await device.items(), try await witness()] {
      guard let difference = difference(seen, from: expected) else { continue }
      var kept = seen
      kept["deleted here"] = nil
      let cameBack = self.difference(kept, from: expected) == nil
      guard let step else {
        return report(
          cameBack ? .deletionsNotSent : .fetchOverwritesUnsentEdits,
          "changes made between two syncs, without a crash: \(difference)")
      }
      let place = "a crash at step \(step), \(plan.crashedIn ?? "which was not reached")"
      return report(
        cameBack ? .crashBringsBackDeletedItems : .crashLosesEdits, "\(place): \(difference)")
    }
  }
}
