extension Catalogue {
  /// Faults in what a device remembers.
  static let state: [PlantedFault] = [
    PlantedFault(
      "older change returns", "A change that comes back takes the place of a newer one.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/PendingChanges.swift",
          "list[position].marks.isDisjoint(with: [.mayNotReturn, .superseded])",
          "list[position].marks.isDisjoint(with: PLANTED ? [.mayNotReturn] : [.mayNotReturn, .superseded])"
        )
      ]),
    PlantedFault(
      "removed change returns", "A change that the app took back is sent again when it fails.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/PendingChanges.swift",
          "list[older].marks.insert(.mayNotReturn)",
          "if !PLANTED { list[older].marks.insert(.mayNotReturn) }")
      ]),
    PlantedFault(
      "blob without the last", "The state's bytes leave out the last pending zone change.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncState+Bytes.swift",
          "payload.write(list: zones.unsettled) {",
          "payload.write(list: PLANTED ? zones.unsettled.dropLast() : zones.unsettled) {")
      ]),
    PlantedFault(
      "reset keeps tokens", "Another account goes on from the last account's tokens.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncState.swift",
          "      let (records, zones) = (records, zones)\n      self = SyncState()",
          "      let (records, zones, tokens) = (records, zones, zoneTokens)\n"
            + "      self = SyncState()\n      if PLANTED { zoneTokens = tokens }")
      ]),
  ]
}
