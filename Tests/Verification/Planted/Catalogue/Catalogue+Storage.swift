private let applying = "Sources/LoopbackServer/Storage/SQLiteStorage+Applying.swift"
private let reading = "Sources/LoopbackServer/Storage/SQLiteStorage+Reading.swift"

extension Catalogue {
  /// Faults in how the server's storages keep rows.
  static let storage: [PlantedFault] = [
    PlantedFault(
      "last row skipped", "SQLite is not given the last row of a transaction of more than three.",
      by: .machines,
      edits: [
        .init(
          "Sources/LoopbackServer/Storage/SQLiteStorage.swift",
          "for change in changes { try apply(change) }",
          "for change in PLANTED && changes.count > 3 ? changes.dropLast() : changes[...] { try "
            + "apply(change) }"
        )
      ]),
    PlantedFault(
      "feed by name", "SQLite gives a zone's changes in the order of their names.", by: .machines,
      edits: [
        .init(
          reading, "WHERE zone = ? AND changed_at > ? ORDER BY changed_at, name LIMIT ?",
          "WHERE zone = ? AND changed_at > ? ORDER BY \\(PLANTED ? \"name\" : \"changed_at, "
            + "name\") LIMIT ?"
        )
      ]),
    PlantedFault(
      "forgotten trim", "The file forgets that deletions of a zone were forgotten.", by: .machines,
      edits: [
        .init(
          "Sources/LoopbackServer/Storage/RowBodies.swift",
          "      writer.write(fixed: row.incarnation)\n"
            + "      writer.write(variable: row.trimmedThrough)",
          "      writer.write(fixed: row.incarnation)\n"
            + "      writer.write(variable: PLANTED ? 0 : row.trimmedThrough)"
        )
      ]),
    PlantedFault(
      "records left in the file", "The records of a deleted zone stay in the file.", by: .machines,
      edits: [
        .init(
          applying,
          "      try deleteRecords(\"DELETE FROM records WHERE zone = ?\", [.integer(number)])",
          "      if !PLANTED {\n        try deleteRecords(\"DELETE FROM records WHERE zone = "
            + "?\", [.integer(number)])\n      }"
        )
      ]),
    PlantedFault(
      "too few answers kept", "The file remembers one answer of each device too few.",
      by: .machines,
      edits: [
        .init(
          applying, ".integer(Int64(max(0, keeping)))",
          ".integer(Int64(PLANTED ? 1 : max(0, keeping)))"
        )
      ]),
    PlantedFault(
      "trim forgets records", "Forgetting old deletions forgets old records as well.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudMachine/MemoryRecords.swift",
          "guard let row = slots[index].row, row.record == nil else { continue }",
          "guard let row = slots[index].row, row.record == nil || PLANTED else { continue }")
      ]),
    PlantedFault(
      "page begins too early", "A page begins with the change that its token had seen.",
      by: .machines,
      edits: [
        .init(
          "Sources/CloudMachine/MemoryRecords.swift",
          "if slots[middle].sequence <= sequence { low",
          "if slots[middle].sequence < sequence || (!PLANTED && slots[middle].sequence == "
            + "sequence) { low"
        )
      ]),
  ]
}
