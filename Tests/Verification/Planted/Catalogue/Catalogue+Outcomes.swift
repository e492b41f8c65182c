private let disposition = "Sources/SyncMachine/Disposition.swift"
private let send = "Sources/SyncMachine/SyncMachine+Send.swift"

extension Catalogue {
  /// Faults in what becomes of a change that was sent, and of a zone that is lost.
  static let outcomes: [PlantedFault] = [
    PlantedFault(
      "newer edit settled too", "An older edit's success takes a newer edit off the list.",
      by: .engines, .machines,
      edits: [
        .init(
          send, "      if state.records.settle(send.reportedRecords[index].id, returns: returns)",
          "      if PLANTED, !returns {\n"
            + "        state.records.remove(PendingChange(.save, send.reportedRecords[index].id))\n"
            + "      }\n"
            + "      if state.records.settle(send.reportedRecords[index].id, returns: returns)")
      ]),
    PlantedFault(
      "lost answer is final", "A change whose answer was lost does not wait again.",
      by: .engines, .machines,
      edits: [
        .init(
          disposition, "case .serverResponseLost: .retry",
          "case .serverResponseLost: PLANTED ? .surface : .retry")
      ]),
    PlantedFault(
      "full storage tried again", "A change for which there is no room waits again by itself.",
      by: .engines, .machines,
      edits: [
        .init(
          disposition, "      .alreadyShared:\n      .surface",
          "      .alreadyShared:\n      PLANTED ? .retry : .surface")
      ]),
    PlantedFault(
      "purge told as reset", "The app hears of a purged zone that encrypted data was reset.",
      by: .engines,
      edits: [
        .init(
          "Sources/CloudSync/Engine/EngineDriver+Conversion.swift",
          "reason: CKDatabase.DatabaseChange.Deletion.Reason($0.reason))",
          "reason: CKDatabase.DatabaseChange.Deletion.Reason("
            + "PLANTED && $0.reason == .purged ? .encryptedDataReset : $0.reason))")
      ]),
    PlantedFault(
      "deletion without an outcome", "The app does not hear of the last deletion of a batch.",
      by: .engines, .machines,
      edits: [
        .init(
          send,
          "        deleted: Self.aligned(deleted, to: batch.deletions.count) { "
            + "batch.deletions[$0] })",
          "        deleted: Self.aligned(deleted, to: batch.deletions.count) { "
            + "batch.deletions[$0] }.dropLast(PLANTED ? 1 : 0))")
      ]),
    PlantedFault(
      "two names, two changes", "A record that is added under both names of its zone waits twice.",
      by: .engines,
      edits: [
        .init(
          "Sources/SyncMachine/PendingChanges.swift",
          "canonicalGroups[Int(number)] = adopt(resolved)",
          "if !PLANTED { canonicalGroups[Int(number)] = adopt(resolved) }")
      ]),
    PlantedFault(
      "answer under another name", "The answer to a save names the record as the server does.",
      by: .engines,
      edits: [
        .init(
          "Sources/CloudMachine/ReplySpelling.swift",
          "        saved: respelled(saved, as: request.save.map(\\.id), respelled),",
          "        saved: PLANTED ? saved\n"
            + "          : respelled(saved, as: request.save.map(\\.id), respelled),")
      ]),
  ]
}
