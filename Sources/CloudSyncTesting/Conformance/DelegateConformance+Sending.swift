import CloudSync
import LoopbackServer

extension DelegateConformance {
  func goodDay(_ report: inout ConformanceReport) async throws {
    let cloud = world()
    let first = try await device("first", in: cloud)
    let second = try await device("second", in: cloud)
    var expected = ["a": "1", "b": "1", "c": "1"]
    for name in expected.keys.sorted() { try await first.write("1", as: name) }
    try await first.settle()
    try await second.settle()
    if let difference = difference(try await second.items(), from: expected) {
      return report.add(.doesNotSync, "three items on another device: \(difference)")
    }
    if canDelete {
      try await second.delete("a")
      expected["a"] = nil
    }
    if canEdit {
      try await second.write("2", as: "b")
      expected["b"] = "2"
    }
    try await second.settle()
    try await first.settle()
    for (who, seen) in [
      ("the first device", try await first.items()), ("a new device", try await witness(in: cloud)),
    ] {
      guard let difference = difference(seen, from: expected) else { continue }
      report.add(.doesNotSync, "a deletion and a change on \(who): \(difference)")
    }
  }

  func conflicts(_ report: inout ConformanceReport) async throws {
    for kind in Conflict.allCases
    where (canEdit || !kind.needsEdits) && (canDelete || !kind.needsDeletions) {
      let cloud = world()
      let devices = [
        try await device("first", in: cloud), try await device("second", in: cloud),
      ]
      try await devices[0].write("0", as: "bystander")
      if kind.existsBefore { try await devices[0].write("0", as: "x") }
      for device in devices { try await device.settle() }
      if kind == .race {
        // The first device is faster, after the second one has looked and before it sends.
        let scope = RequestScope(kind: .fetchDatabaseChanges, device: "second")
        cloud.server.controls.runAfterCommit(in: scope) { _ in
          try? await devices[0].write("1", as: "x")
          try? await devices[0].sync()
        }
      }
      for (index, device) in devices.enumerated() where kind != .race || index == 1 {
        if kind.deletes(index) {
          try await device.delete("x")
        } else {
          try await device.write("\(index + 1)", as: "x")
        }
      }
      for device in (kind == .race ? [devices[1]] : []) + devices + devices.reversed() + devices {
        try await device.settle()
      }
      try await compare(devices, after: kind, &report)
    }
  }

  private func compare(
    _ devices: [TestedDevice], after kind: Conflict, _ report: inout ConformanceReport
  ) async throws {
    let end = try await witness(in: devices[0].cloud)
    let mustStay = kind.mustKeepItem ? ["bystander", "x"] : ["bystander"]
    for name in mustStay where end[name] == nil {
      report.add(.conflictsDoNotConverge, "\(kind.rawValue): lost \(name)")
    }
    for device in devices {
      guard let difference = difference(try await device.items(), from: end) else { continue }
      report.add(
        .conflictsDoNotConverge,
        "\(kind.rawValue): the \(device.link.name) device differs from the server: \(difference)")
    }
  }

  func changesDuringSends(_ report: inout ConformanceReport) async throws {
    for changes in [true, false] where changes ? canEdit : canDelete {
      let cloud = world()
      let device = try await device("first", in: cloud)
      try await device.write("0", as: "bystander")
      try await device.settle()
      try await device.write("1", as: "x")
      cloud.server.controls.runAfterCommit(in: RequestScope(kind: .modifyRecords)) { _ in
        // What the app throws shows in what it lost.
        if changes {
          try? await device.write("2", as: "x")
        } else {
          try? await device.delete("x")
        }
      }
      try await device.settle()
      var expected = ["bystander": "0"]
      if changes { expected["x"] = "2" }
      let what = changes ? "changed" : "deleted"
      for seen in [try await device.items(), try await witness(in: cloud)] {
        guard let difference = difference(seen, from: expected) else { continue }
        report.add(.changeDuringSendLost, "x was \(what) while it was sent: \(difference)")
        break
      }
    }
  }

  func refusedSaves(_ report: inout ConformanceReport) async throws {
    let codes: [(CKError.Code, DelegateDefect)] =
      [(.batchRequestFailed, .batchFailuresNotQueuedAgain)]
      + [
        CKError.Code.limitExceeded, .internalError, .serverRejectedRequest, .invalidArguments,
        .permissionFailure, .referenceViolation, .constraintViolation, .incompatibleVersion,
        .managedAccountRestricted, .zoneBusy, .serverResponseLost,
      ].map { ($0, .otherFailuresIgnored) }
    for (code, defect) in codes {
      let cloud = world()
      let device = try await device("first", in: cloud)
      try await device.write("1", as: "before")
      try await device.settle()
      try await device.write("1", as: "x")
      cloud.refuseSaves(with: code, from: "first")
      try await expect(
        ["before": "1", "x": "1"], from: device, defect, "a save refused with \(code)", &report)
    }
  }

  func refusedDeletions(_ report: inout ConformanceReport) async throws {
    let codes: [CKError.Code] = [
      .batchRequestFailed, .limitExceeded, .internalError, .serverRejectedRequest,
      .permissionFailure, .zoneBusy,
    ]
    for code in codes {
      let cloud = world()
      let device = try await device("first", in: cloud)
      try await device.write("1", as: "stays")
      try await device.write("1", as: "x")
      try await device.settle()
      try await device.delete("x")
      cloud.refuseDeletions(with: code, from: "first")
      try await expect(
        ["stays": "1"], from: device, .failedDeletionsIgnored, "a deletion refused with \(code)",
        &report)
    }
  }

  func fullStorage(_ report: inout ConformanceReport) async throws {
    let cloud = world()
    let device = try await device("first", in: cloud)
    try await device.write("1", as: "before")
    try await device.settle()
    try cloud.setQuota(0, of: "alice")
    try await device.write("1", as: "x")
    try await device.settle()
    if try await device.items()["x"] == nil {
      report.add(.quotaDropsEdits, "the item is gone from the device while there is no room")
    }
    try cloud.setQuota(nil, of: "alice")
    try await expect(
      ["before": "1", "x": "1"], from: device, .quotaDropsEdits, "an item made without room",
      &report)
  }

  func lostAnswers(_ report: inout ConformanceReport) async throws {
    let cloud = world()
    let device = try await device("first", in: cloud)
    try await device.write("1", as: "a")
    if canDelete { try await device.write("1", as: "b") }
    try await device.settle()
    cloud.loseAnswers(next: 2, from: "first")
    if canEdit { try await device.write("2", as: "a") }
    try await device.write("1", as: "x")
    try await device.sync()
    if canDelete { try await device.delete("b") }
    try await expect(
      ["a": canEdit ? "2" : "1", "x": "1"], from: device, .lostAnswersLoseEdits,
      "changes with lost answers", &report)
  }

  /// Lets the device sync, launch anew and sync again, after which all must see `expected`.
  func expect(
    _ expected: [String: String], from device: TestedDevice, _ defect: DelegateDefect,
    _ what: String, _ report: inout ConformanceReport
  ) async throws {
    try await device.settle()
    try await device.relaunch()
    try await device.settle()
    let views = [
      ("on the device", try await device.items()),
      ("on the server", try await witness(in: device.cloud)),
    ]
    for (place, seen) in views {
      guard let difference = difference(seen, from: expected) else { continue }
      return report.add(defect, "\(what): \(place) \(difference)")
    }
  }
}

/// The conflicts of two devices over one item.
private enum Conflict: String, CaseIterable {
  case bothMake = "both make the same item"
  case race = "one makes an item while the other is about to send one of the same name"
  case bothChange = "both change an item"
  case changeAndDelete = "one changes an item that the other deletes"
  case deleteAndChange = "one deletes an item that the other changes"
  case bothDelete = "both delete an item"

  var needsEdits: Bool {
    self == .bothChange || self == .changeAndDelete || self == .deleteAndChange
  }

  var needsDeletions: Bool { deletes(0) || deletes(1) }

  var existsBefore: Bool { self != .bothMake && self != .race }

  /// Whether nobody deleted the item.
  var mustKeepItem: Bool { self == .bothMake || self == .race || self == .bothChange }

  /// Whether the device of this number deletes the item.
  func deletes(_ device: Int) -> Bool {
    switch self {
    case .bothMake, .race, .bothChange: false
    case .changeAndDelete: device == 1
    case .deleteAndChange: device == 0
    case .bothDelete: true
    }
  }
}
