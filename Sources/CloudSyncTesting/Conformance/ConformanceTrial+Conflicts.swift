import CloudSync
import LoopbackServer

extension ConformanceTrial {
  /// Two devices change one item; all devices must agree, on a text with one of the changes at
  /// least, and a race must end as it does when the other change is fetched before the send.
  func conflict(_ story: ConflictStory) async throws {
    let devices = [try await device("first"), try await device("second")]
    try await play(story, on: devices)
    let end = try await witness()
    if !story.isRace { ends[story] = end }
    let later = devices[1 - story.earlier]
    let isIgnored = story.isRace && later.ignoredFailure(.serverRecordChanged)
    let defect: DelegateDefect = isIgnored ? .serverRecordChangedIgnored : .conflictsDoNotConverge
    let mustStay = story.mustKeepItem ? ["bystander", "x"] : ["bystander"]
    for name in mustStay where end[name] == nil { report(defect, "\(story.name): lost \(name)") }
    if story.actions == .bothDelete, end["x"] != nil {
      report(defect, "\(story.name): still there: x")
    }
    if story.mustKeepItem, let text = end["x"], !["1", "2"].contains(where: text.contains) {
      report(.conflictsLoseBothEdits, "\(story.name): x has neither text that was written")
    }
    for device in devices {
      guard let difference = difference(try await device.items(), from: end) else { continue }
      report(
        defect,
        "\(story.name): the \(device.link.name) device differs from the server: \(difference)")
    }
    guard isIgnored, story.mustKeepItem else { return }
    if ends[story.withoutRace] == nil {
      // It may not have been played yet; what it shows is reported where it is a scenario.
      try await ConformanceTrial(suite, ends).perform { try await $0.conflict(story.withoutRace) }
    }
    if let usual = ends[story.withoutRace], let difference = difference(end, from: usual) {
      report(defect, "\(story.name): otherwise than when it is fetched: \(difference)")
    }
  }

  private func play(_ story: ConflictStory, on devices: [TestedDevice]) async throws {
    let (earlier, later) = (devices[story.earlier], devices[1 - story.earlier])
    try await devices[0].write("0", as: "bystander")
    if story.existsBefore { try await devices[0].write("0", as: "x") }
    for device in devices { try await device.settle() }
    for index in [1 - story.newer, story.newer] {
      cloud.clock.advance(by: .seconds(60))
      if story.deletes(index) {
        try await devices[index].delete("x")
      } else {
        try await devices[index].write("\(index + 1)", as: "x")
      }
    }
    if story.isRace {
      // The earlier device sends after the later one has fetched and before it sends.
      let scope = RequestScope(kind: .fetchDatabaseChanges, device: later.link.name)
      cloud.server.controls.runAfterCommit(in: scope) { _ in try? await earlier.sync() }
      try await later.settle()
    }
    for device in [earlier, later, earlier, later] { try await device.settle() }
  }
}
