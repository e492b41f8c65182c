private let missing = "Sources/SyncMachine/SyncMachine+MissingZones.swift"
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
      by: .engines, .machines,
      edits: [
        .init(
          fetch, "      noteListed(page, &fetch)\n",
          "      if !PLANTED { noteListed(page, &fetch) }\n")
      ]),
    PlantedFault(
      "loss without its reason", "A zone that is missing in a new listing is told as deleted.",
      by: .engines, .machines,
      edits: [
        .init(
          missing, "          losses.append(ZoneDeletion(zone: zone, reason: reason))",
          "          losses.append(ZoneDeletion(zone: zone, reason: PLANTED ? .deleted : reason))")
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
      by: .machines, .engines,
      edits: [
        .init(
          fetch, "    if !startsOver || !page.moreComing {\n",
          "    if !startsOver || !page.moreComing || PLANTED {\n")
      ]),
    PlantedFault(
      "network ends the wait", "A device that is back on the network forgets the server's wait.",
      by: .machines,
      edits: [
        .init(
          "Sources/SyncMachine/Schedule.swift",
          "    schedule.networkWaits = []\n",
          "    schedule.networkWaits = []\n    if PLANTED { schedule.notBefore = nil }\n")
      ]),
    PlantedFault(
      "failed zone forgotten", "A zone that could not be fetched is not tried again.",
      by: .machines,
      edits: [
        .init(
          fetch,
          "    if concernsZone { failure.zones[zone] = error } else { failure.error = error }",
          "    if PLANTED { record(.setZoneChanged(zone, false), now: now) }\n"
            + "    if concernsZone { failure.zones[zone] = error } else { failure.error = error }")
      ]),
    PlantedFault(
      "denied zone forgotten", "A zone that the server denied once is not asked for again.",
      by: .machines, .engines,
      edits: [
        .init(
          fetch, "    fetch.failure = failure\n    noteAccountError(error)",
          "    if PLANTED, error.code == .zoneNotFound || error.code == .userDeletedZone {\n"
            + "      record(.setZoneChanged(zone, false), now: now)\n    }\n"
            + "    fetch.failure = failure\n    noteAccountError(error)")
      ]),
  ]
}
