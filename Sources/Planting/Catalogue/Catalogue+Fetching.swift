private let fetch = "Sources/SyncMachine/SyncMachine+Fetch.swift"

extension Catalogue {
  /// Faults in how a device reads the feeds.
  static let fetching: [PlantedFault] = [
    PlantedFault(
      "zone token too early", "A zone's token moves before the app has the page.", by: .machines,
      edits: [
        .init(
          fetch, "      fetch.step = .deliveringZone(page)",
          "      if PLANTED { record(.setZoneToken(zone.id, page.token), now: now) }\n"
            + "      fetch.step = .deliveringZone(page)")
      ]),
    PlantedFault(
      "database token too early", "The database's token moves before the app has the list.",
      by: .machines,
      edits: [
        .init(
          fetch, "      fetch.step = .deliveringDatabase(page)",
          "      if PLANTED { record(.setDatabaseToken(page.token), now: now) }\n"
            + "      fetch.step = .deliveringDatabase(page)")
      ]),
    PlantedFault(
      "first page only", "Of a zone with several pages only the first is read.", by: .machines,
      edits: [
        .init(
          fetch, "    if page.moreComing { return ask(&fetch) }\n",
          "    if page.moreComing, !PLANTED { return ask(&fetch) }\n")
      ]),
    PlantedFault(
      "vanished zones stay", "After a new listing nobody misses the zones that are gone.",
      by: .machines,
      edits: [
        .init(
          fetch, "    guard fetch.isRelisting else { return }\n",
          "    guard fetch.isRelisting, !PLANTED else { return }\n")
      ]),
    PlantedFault(
      "start over unsaid", "The app is not told that a zone is read from the start.",
      by: .machines,
      edits: [
        .init(
          fetch, "outbox.append(.willFetchZoneChanges(zone, startsOver: cursor == nil))",
          "outbox.append(.willFetchZoneChanges(zone, startsOver: cursor == nil && !PLANTED))")
      ]),
    PlantedFault(
      "start over cut off", "A reading from the start that is cut off goes on where it was.",
      by: .machines,
      edits: [
        .init(
          fetch, "    if !startsOver || !page.moreComing {\n",
          "    if !startsOver || !page.moreComing || PLANTED {\n")
      ]),
    PlantedFault(
      "deleted zone's token", "A deleted zone's token is kept for the next zone of that name.",
      by: .machines,
      edits: [
        .init(
          send, "    guard state.zoneTokens[zone] != nil else { return }\n",
          "    guard state.zoneTokens[zone] != nil, !PLANTED else { return }\n")
      ]),
    PlantedFault(
      "failed zone forgotten", "A zone that could not be fetched is not tried again.",
      by: .machines,
      edits: [
        .init(
          fetch, "    if concernsZone { failure.zones[zone] = error } else { failure.error = error }",
          "    if PLANTED { record(.setZoneChanged(zone, false), now: now) }\n"
            + "    if concernsZone { failure.zones[zone] = error } else { failure.error = error }")
      ]),
  ]
}

private let send = "Sources/SyncMachine/SyncMachine+Send.swift"
