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
          "list[position].marks.isDisjoint(with: PLANTED ? [.mayNotReturn] : [.mayNotReturn, "
            + ".superseded])"
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
      "under way stays under way",
      "After a launch, what an earlier launch had under way is never pending again.",
      by: .machines, .engines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncMachine.swift",
          "    self.state.makeIndexes()\n    returnUnsettled()",
          "    self.state.makeIndexes()\n    if !PLANTED { returnUnsettled() }")
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
    PlantedFault(
      "append not synchronized",
      "A step in the state log is acknowledged before it is on the disk.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudSync/StateStore/LogFile.swift",
          "try file.append(all: bytes) }\n      try synchronize()",
          "try file.append(all: bytes) }\n      if !PLANTED { try synchronize() }")
      ]),
    PlantedFault(
      "rename not synchronized", "A new state log is acknowledged before its name is on the disk.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudSync/StateStore/LogFile.swift", "try disk.synchronizeFolder(of: path)",
          "if !PLANTED { try disk.synchronizeFolder(of: path) }")
      ]),
    PlantedFault(
      "renamed before written", "A new state log gets its name before its bytes are on the disk.",
      by: .engines, .machines,
      edits: [
        .init(
          "Sources/CloudSync/StateStore/LogFile.swift", "    try append(bytes)\n",
          "    if PLANTED {\n"
            + "      try doing(\"write\", path) { () throws(DiskError) in try file.append(all: "
            + "bytes) }\n"
            + "    } else {\n      try append(bytes)\n    }\n")
      ]),
    PlantedFault(
      "log holds one entry", "Of the state log's entries only the first is read.", by: .machines,
      edits: [
        .init(
          "Sources/CloudSync/StateStore/LogFormat.swift",
          "case .entry: contents.entries.append(Array(content))",
          "case .entry: if !PLANTED || contents.entries.isEmpty { "
            + "contents.entries.append(Array(content)) }"
        )
      ]),
    PlantedFault(
      "expiry lost in the log", "The state log's bytes forget that a zone is to be read anew.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/StateChange+Bytes.swift", "      writer.write(isExpired)",
          "      writer.write(isExpired && !PLANTED)")
      ]),
    PlantedFault(
      "deletion logged as a save", "A deletion that waits is written to the state log as a save.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/StateChange+Bytes.swift",
          "    case .addRecord(let change):\n      writer.write(UInt8(9))\n"
            + "      writer.write(change.kind.rawValue)",
          "    case .addRecord(let change):\n      writer.write(UInt8(9))\n"
            + "      writer.write(PLANTED ? ChangeKind.save.rawValue : change.kind.rawValue)"
        )
      ]),
  ]
}
