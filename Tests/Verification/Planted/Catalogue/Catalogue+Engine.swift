private let send = "Sources/SyncMachine/SyncMachine+Send.swift"
private let calls = "Sources/SyncMachine/SyncMachine+Calls.swift"
private let account = "Sources/SyncMachine/SyncMachine+Account.swift"
private let schedule = "Sources/SyncMachine/Schedule.swift"

extension Catalogue {
  /// Faults in what a device decides about sending, waiting and accounts.
  static let engine: [PlantedFault] = [
    PlantedFault(
      "drop on unavailable", "A change is forgotten when the service is unavailable.",
      by: .machines,
      edits: [
        .init(
          send, "let returns = error.code.disposition == .retry\n",
          "let returns = error.code.disposition == .retry"
            + " && !(PLANTED && error.code == .serviceUnavailable)\n")
      ]),
    PlantedFault(
      "edit while asked", "An edit made while the app builds a batch counts as sent with it.",
      by: .machines,
      edits: [
        .init(
          send, "if let name = send.addedWhileAsking[state.resolved(change.id)] {",
          "if !PLANTED, let name = send.addedWhileAsking[state.resolved(change.id)] {")
      ]),
    PlantedFault(
      "half of a batch", "Of a batch that was too large only the first half is sent again.",
      by: .machines,
      edits: [
        .init(
          send, "send.parts.insert(contentsOf: [halves.0, halves.1], at: 0)",
          "send.parts.insert(contentsOf: PLANTED ? [halves.0] : [halves.0, halves.1], at: 0)")
      ]),
    PlantedFault(
      "item's wait ignored", "A wait that the server asks for in one item's error is not kept.",
      by: .machines,
      edits: [
        .init(
          send, "    guard let error else { return false }\n    honour(error, now: now)",
          "    guard let error else { return false }\n    if !PLANTED { honour(error, now: now) }")
      ]),
    PlantedFault(
      "settled before told", "A change leaves the list before the app knows what became of it.",
      by: .machines, .engines,
      edits: [
        .init(
          send, "outbox.append(.sentRecordChanges(sent))",
          "outbox.append(.sentRecordChanges(sent))\n    if PLANTED { settleTold(&send, now: now) }")
      ]),
    PlantedFault(
      "log without settlement", "The state log does not hear that a change was settled.",
      by: .machines,
      edits: [
        .init(
          send, "note(.removeRecord(send.reportedRecords[index].id), now: now)",
          "if !PLANTED { note(.removeRecord(send.reportedRecords[index].id), now: now) }")
      ]),
    PlantedFault(
      "unanswered stays away", "A change whose answer never came does not wait again.",
      by: .machines,
      edits: [
        .init(send, "    returnUnsettled()\n", "    if !PLANTED { returnUnsettled() }\n")
      ]),
    PlantedFault(
      "unread zone not noted",
      "A zone that this device only wrote to is later read as if all in it were new.",
      by: .engines, .machines,
      edits: [
        .init(
          send, "    noteUnreadZones(sent.saved, now: now)",
          "    if !PLANTED { noteUnreadZones(sent.saved, now: now) }")
      ]),
    PlantedFault(
      "send without an end", "An interrupted send has no didSendChanges.", by: .machines,
      edits: [
        .init(
          calls, "      outbox.append(.didSendChanges(send.context))",
          "      if !PLANTED { outbox.append(.didSendChanges(send.context)) }")
      ]),
    PlantedFault(
      "zone without an end", "An interrupted fetch leaves the zone open that was being read.",
      by: .machines,
      edits: [
        .init(
          calls,
          "if !hasUndeliveredOpening { outbox.append(.didFetchZoneChanges(zone.id, error)) }",
          "if !hasUndeliveredOpening, !PLANTED {\n"
            + "      outbox.append(.didFetchZoneChanges(zone.id, error))\n    }")
      ]),
    PlantedFault(
      "fetch without an end", "Who waits for a fetch that failed is never told.", by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncMachine+Fetch.swift",
          "    finished.append((fetch.waiters,",
          "    finished.append((PLANTED && fetch.failure != nil ? [] : fetch.waiters,")
      ]),
    PlantedFault(
      "changes of the old account", "What was pending stays after another account signed in.",
      by: .machines,
      edits: [
        .init(
          account, "    record(.reset, now: now)\n",
          "    let ofOld = PLANTED ? state.records.waiting : []\n    record(.reset, now: now)\n"
            + "    for change in ofOld { record(.addRecord(change), now: now) }\n")
      ]),
    PlantedFault(
      "account told once", "An account change is not told again after a crash in between.",
      by: .machines, .engines,
      edits: [
        .init(
          account, "    guard user != state.user || state.unannounced != nil else { return }",
          "    guard user != state.user || (state.unannounced != nil && !PLANTED) else { return }")
      ]),
    PlantedFault(
      "shorter wait wins", "A later, shorter wait takes the place of a longer one.",
      by: .machines, .engines,
      edits: [
        .init(
          schedule, "schedule.notBefore = max(schedule.notBefore ?? until, until)",
          "schedule.notBefore = PLANTED ? until : max(schedule.notBefore ?? until, until)")
      ]),
    PlantedFault(
      "no back-off", "The wait between failed attempts does not grow.", by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/Disposition.swift",
          "let doublings = min(max(0, failures - 1), 30)",
          "let doublings = PLANTED ? 0 : min(max(0, failures - 1), 30)")
      ]),
    PlantedFault(
      "forgotten user", "A request does not say for which account it was made.", by: .engines,
      .machines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncMachine.swift", "expectedUser: state.user, request: request)",
          "expectedUser: PLANTED ? nil : state.user, request: request)")
      ]),
    PlantedFault(
      "late answer taken", "An answer to a request that was given up is taken for the next one's.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncMachine.swift",
          "case .fetching(let fetch) where fetch.awaited == token:",
          "case .fetching(let fetch) where fetch.awaited == token || (PLANTED && fetch.awaited "
            + "!= nil):"
        )
      ]),
  ]
}
