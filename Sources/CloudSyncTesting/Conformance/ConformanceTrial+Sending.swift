import CloudSync
import LoopbackServer
import Synchronization

extension ConformanceTrial {
  func goodDay() async throws {
    let first = try await device("first")
    let second = try await device("second")
    var expected = ["a": "1", "b": "1", "c": "1"]
    for name in expected.keys.sorted() { try await first.write("1", as: name) }
    try await first.settle()
    try await second.settle()
    if let difference = difference(try await second.items(), from: expected) {
      return report(.doesNotSync, "three items on another device: \(difference)")
    }
    try checkZone()
    if suite.canDelete {
      try await second.delete("a")
      expected["a"] = nil
    }
    if suite.canEdit {
      try await second.write("2", as: "b")
      expected["b"] = "2"
    }
    try await second.settle()
    try await first.settle()
    let (server, seen) = (try await witness(), try await first.items())
    for (place, view) in [("a new device", server), ("the first device", seen)] {
      guard let difference = difference(view, from: expected) else { continue }
      var kept = view
      kept["a"] = nil
      let isDeletion = self.difference(kept, from: expected) == nil
      let defect: DelegateDefect =
        !isDeletion ? .doesNotSync : view == server ? .deletionsNotSent : .fetchedDeletionsIgnored
      return report(defect, "a deletion and a change on \(place): \(difference)")
    }
    if let firstFailure { report(.doesNotSync, "a sync without a fault threw \(firstFailure)") }
  }

  func changeDuringSend(deletes: Bool) async throws {
    let device = try await device("first")
    try await device.write("0", as: "bystander")
    try await device.settle()
    try await device.write("1", as: "x")
    let action = Mutex<Task<Void, any Error>?>(nil)
    cloud.server.controls.runAfterCommit(in: RequestScope(kind: .modifyRecords)) { [executor] _ in
      // A task of its own: the app may let its user wait until the sync has ended.
      let task = executor.start {
        if deletes { try await device.delete("x") } else { try await device.write("2", as: "x") }
      }
      action.withLock { $0 = task }
      await executor.settle()
    }
    try await device.settle()
    var expected = ["bystander": "0", "x": "1"]
    do {
      if let task = action.withLock({ $0 }) {
        try await task.value
        expected["x"] = deletes ? nil : "2"
        // It may have ended after the last sync, if the app runs it on an executor of its own.
        try await device.settle()
      }
    } catch let error as DeviceError {
      throw error
    } catch {
      // An app may refuse the action, as long as it says so.
    }
    for seen in [try await device.items(), try await witness()] {
      guard let difference = difference(seen, from: expected) else { continue }
      return report(
        .changeDuringSendLost,
        "x was \(deletes ? "deleted" : "changed") while it was sent: \(difference)")
    }
  }

  /// The codes with which single saves are refused, and the defect of an app that loses them.
  static let saveRefusals: [(CKError.Code, DelegateDefect)] =
    [(.batchRequestFailed, .batchFailuresNotQueuedAgain)]
    + [
      CKError.Code.limitExceeded, .internalError, .referenceViolation, .zoneBusy,
      .serverResponseLost,
    ].map { ($0, .otherFailuresIgnored) }
    + [
      CKError.Code.serverRejectedRequest, .invalidArguments, .permissionFailure,
      .constraintViolation, .incompatibleVersion, .managedAccountRestricted,
    ].map { ($0, .permanentFailuresIgnored) }

  func refusedSave(_ code: CKError.Code, _ defect: DelegateDefect) async throws {
    let device = try await device("first")
    try await device.write("1", as: "before")
    try await device.settle()
    try await device.write("1", as: "x")
    cloud.refuseSaves(with: code, from: "first")
    try await expect(
      ["before": "1", "x": "1"], from: device, defect, "a save refused with \(code)")
  }

  /// The codes with which single deletions are refused.
  static let deletionRefusals: [CKError.Code] = [
    .batchRequestFailed, .limitExceeded, .internalError, .serverRejectedRequest,
    .permissionFailure, .zoneBusy,
  ]

  func refusedDeletion(_ code: CKError.Code) async throws {
    let device = try await device("first")
    try await device.write("1", as: "stays")
    try await device.write("1", as: "x")
    try await device.settle()
    try await device.delete("x")
    cloud.refuseDeletions(with: code, from: "first")
    try await expect(
      ["stays": "1"], from: device, .failedDeletionsIgnored, "a deletion refused with \(code)")
  }

  func fullStorage() async throws {
    let device = try await device("first")
    try await device.write("1", as: "before")
    try await device.settle()
    try cloud.setQuota(0, of: "alice")
    try await device.write("1", as: "x")
    try await device.settle()
    if try await device.items()["x"] == nil {
      report(.quotaDropsEdits, "the item is gone from the device while there is no room")
    }
    try cloud.setQuota(nil, of: "alice")
    try await expect(
      ["before": "1", "x": "1"], from: device, .quotaDropsEdits, "an item made without room")
  }

  func lostAnswers() async throws {
    let device = try await device("first")
    try await device.write("1", as: "a")
    if suite.canDelete { try await device.write("1", as: "b") }
    try await device.settle()
    cloud.loseAnswers(next: 2, from: "first")
    if suite.canEdit { try await device.write("2", as: "a") }
    try await device.write("1", as: "x")
    try await device.sync()
    if suite.canDelete { try await device.delete("b") }
    try await expect(
      ["a": suite.canEdit ? "2" : "1", "x": "1"], from: device, .lostAnswersLoseEdits,
      "changes with lost answers")
  }
}
