private let driverFile = "Sources/CloudSync/Engine/EngineDriver.swift"
private let conversion = "Sources/CloudSync/Engine/EngineDriver+Conversion.swift"

extension Catalogue {
  /// Faults in the engine around the machine.
  static let driver: [PlantedFault] = [
    PlantedFault(
      "account told unkept", "The app is told of an account that the state store refused.",
      by: .engines,
      edits: [
        .init(
          "Sources/SyncMachine/SyncMachine+Store.swift",
          "guard configuration.keepsJournal else {",
          "guard !PLANTED, configuration.keepsJournal else {")
      ]),
    PlantedFault(
      "pump never ends", "The engine's pump goes on waiting after the engine was stopped.",
      by: .stores("tabs"),
      edits: [
        .init(
          driverFile, "if core.isStopped { return (nil, []) }",
          "if core.isStopped, !PLANTED { return (nil, []) }")
      ]),
    PlantedFault(
      "event not awaited", "The engine goes on before the app has returned from an event.",
      by: .engines, .stores("tabs"), .stores("ideas"),
      edits: [
        .init(
          driverFile,
          "    await CallbackMark.run { await app.delegate.handleEvent(told, syncEngine: "
            + "app.engine) }",
          "    if PLANTED {\n      Task.detached {\n"
            + "        await CallbackMark.run { await app.delegate.handleEvent(told, syncEngine: "
            + "app.engine) }\n"
            + "      }\n    } else {\n"
            + "      await CallbackMark.run { await app.delegate.handleEvent(told, syncEngine: "
            + "app.engine) }\n"
            + "    }")
      ]),
    PlantedFault(
      "timer runs on", "A stopped engine's timers and requests go on.",
      by: .stores("tabs"), .stores("ideas"), .engines,
      edits: [
        .init(
          driverFile, "    for task in tasks { task.cancel() }",
          "    if !PLANTED { for task in tasks { task.cancel() } }")
      ]),
    PlantedFault(
      "failure without its record", "A failed save is not told, for its record is not at hand.",
      by: .engines, .stores("leaderboards"),
      edits: [
        .init(
          driverFile, "core.batch = batch?.recordsToSave ?? []",
          "core.batch = PLANTED ? [] : batch?.recordsToSave ?? []")
      ]),
    PlantedFault(
      "failed deletion told as done", "The app hears that a deletion worked that failed.",
      by: .engines, .stores("tabs"), .stores("ideas"), .stores("annotations"),
      edits: [
        .init(
          conversion,
          "      let id = CKRecord.ID(result.id)\n      if let error = result.error {",
          "      let id = CKRecord.ID(result.id)\n      if !PLANTED, let error = result.error {")
      ]),
    PlantedFault(
      "touched field left out", "The last of a record's touched fields is not sent.",
      by: .engines, .stores("tabs"), .stores("ideas"),
      edits: [
        .init(
          "Sources/CloudSync/Records/CKRecord+Saving.swift",
          "guard changes.count < keys.count else { return changes }",
          "guard changes.count < keys.count else { return PLANTED ? changes.dropLast() : changes }"
        )
      ]),
  ]
}
