private let transaction = "Sources/SQLite/Connection+Transaction.swift"
private let logFile = "Sources/CloudSync/StateStore/LogFile.swift"

extension Catalogue {
  /// Faults in what has to be on the disk when somebody hears of it.
  static let disk: [PlantedFault] = [
    PlantedFault(
      "switch not waited for",
      "The file goes on without a log when the commit of the switch to one has failed.",
      by: .crashes,
      edits: [
        .init(
          transaction, "try rows(\"PRAGMA journal_mode = WAL\") { try $0.text(0) }.first ?? \"\"",
          "try (PLANTED\n          ? first(\"PRAGMA journal_mode = WAL\") { try $0.text(0) }\n"
            + "          : rows(\"PRAGMA journal_mode = WAL\") { try $0.text(0) }.first) ?? \"\"")
      ]),
    PlantedFault(
      "log left as it was",
      "A server builds on a log whose last synchronization failed in the process before it.",
      by: .crashes,
      edits: [
        .init(
          "Sources/LoopbackServer/Storage/ServerFile.swift",
          "if hasLog { try connection.foldLog() }",
          "if hasLog, !PLANTED { try connection.foldLog() }")
      ]),
    PlantedFault(
      "commit not synchronized", "SQLite is not asked to wait for the disk at each commit.",
      by: .crashes,
      edits: [
        .init(
          transaction, "try execute(\"PRAGMA synchronous = FULL\")",
          "try execute(PLANTED ? \"PRAGMA synchronous = NORMAL\" : \"PRAGMA synchronous = FULL\")")
      ]),
    PlantedFault(
      "last entry not written again",
      "A state log trusts what the system shows of an entry that it once failed to write.",
      by: .crashes,
      edits: [.init(logFile, "      if let lastEntry {", "      if let lastEntry, !PLANTED {")]),
  ]
}
