private let saves = "Sources/CloudMachine/RecordBatch+Saves.swift"
private let writing = "Sources/CloudMachine/RecordBatch+Writing.swift"
private let admission = "Sources/CloudMachine/CloudMachine+Admission.swift"

extension Catalogue {
  /// Faults in the server's rules about changes.
  static let rules: [PlantedFault] = [
    PlantedFault(
      "stale tag taken", "A save with an old tag overwrites what others wrote.", by: .machines,
      edits: [
        .init(
          saves, "guard stored.changeTag == tag ||", "guard stored.changeTag == tag || PLANTED ||")
      ]),
    PlantedFault(
      "insert over a record", "A save without a tag overwrites a record that is there.",
      by: .machines,
      edits: [
        .init(
          saves,
          "      return CloudError(\n        .serverRecordChanged, \"the record to insert "
            + "already exists\", serverRecord: stored)",
          "      if PLANTED { return nil }\n      return CloudError(\n"
            + "        .serverRecordChanged, \"the record to insert already exists\", "
            + "serverRecord: stored)"
        )
      ]),
    PlantedFault(
      "half of an atomic batch", "Of an atomic batch with a failure the rest is carried out.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudMachine/RecordBatch.swift",
          "guard !(isAtomic && failed) else { return failedOutcome() }",
          "guard !(isAtomic && failed) || PLANTED else { return failedOutcome() }")
      ]),
    PlantedFault(
      "full storage acknowledged", "A save beyond the quota is acknowledged and not stored.",
      by: .machines,
      edits: [
        .init(
          writing,
          "      guard item.error == nil, let merged = item.merged else {\n",
          "      if PLANTED, item.error?.code == .quotaExceeded, let merged = item.merged {\n"
            + "        saved.append(.success(merged))\n        continue\n      }\n"
            + "      guard item.error == nil, let merged = item.merged else {\n")
      ]),
    PlantedFault(
      "tag given twice", "Two versions in a row have the same tag.", by: .machines,
      edits: [
        .init(
          writing, "changeTag = ChangeTag(String(sequence, radix: 36))",
          "changeTag = ChangeTag(String(PLANTED ? sequence / 2 : sequence, radix: 36))")
      ]),
    PlantedFault(
      "deletion hidden from the list", "A deletion does not bring its zone into the list of news.",
      by: .machines,
      edits: [
        .init(
          writing, "if zone.id != .default { zone.changedAt = row.changedAt }",
          "if zone.id != .default, !(PLANTED && row.record == nil) { zone.changedAt = "
            + "row.changedAt }"
        )
      ]),
    PlantedFault(
      "repetition carried out", "A request that is repeated is carried out a second time.",
      by: .machines,
      edits: [
        .init(
          admission, "    if let receipt = try context.storage.receipt(key) {",
          "    if !PLANTED, let receipt = try context.storage.receipt(key) {")
      ]),
    PlantedFault(
      "other account served", "A request made for one account is carried out for another.",
      by: .machines,
      edits: [
        .init(
          admission, "if let expected = call.expectedUser, expected != caller.user {",
          "if !PLANTED, let expected = call.expectedUser, expected != caller.user {")
      ]),
    PlantedFault(
      "records outlive their zone", "A deleted zone's records are there in the next one.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudMachine/ChangeSet.swift",
          "    append(.removeRecords(of: zone.id, in: database.id))",
          "    if !PLANTED { append(.removeRecords(of: zone.id, in: database.id)) }")
      ]),
    PlantedFault(
      "purge told as deletion", "The server says of a purged zone that it was deleted.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudMachine/CloudMachine+Administration.swift",
          "try remove(zone, for: .purged, in:",
          "try remove(zone, for: PLANTED ? .deleted : .purged, in:")
      ]),
  ]
}
