private let changes = "Sources/CloudMachine/CloudMachine+Changes.swift"
private let position = "Sources/CloudMachine/FeedPosition.swift"

extension Catalogue {
  /// Faults in the server's feeds and their tokens.
  static let feeds: [PlantedFault] = [
    PlantedFault(
      "tombstone forgotten", "The server does not tell of deletions.", by: .machines,
      edits: [
        .init(
          changes,
          "page.deleted.append(RecordDeletion(id: access.outward(row.id), type: row.type))",
          "let deletion = RecordDeletion(id: access.outward(row.id), type: row.type)\n"
            + "          if !PLANTED { page.deleted.append(deletion) }")
      ]),
    PlantedFault(
      "gap at a page's end", "The first record that found no room on a page is skipped.",
      by: .machines,
      edits: [
        .init(
          changes,
          "          page.moreComing = true\n          return place",
          "          page.moreComing = true\n"
            + "          if PLANTED { place.sequence = row.changedAt }\n"
            + "          return place")
      ]),
    PlantedFault(
      "gap in the list", "A token in the middle of the list of zones stands for its end.",
      by: .machines,
      edits: [
        .init(
          changes, "    if !page.moreComing { sequence = database.sequence }",
          "    if !page.moreComing || PLANTED { sequence = database.sequence }")
      ]),
    PlantedFault(
      "trimmed token taken", "A token older than the forgotten deletions still counts.",
      by: .machines,
      edits: [
        .init(
          position, "return covered >= trimmedThrough &&",
          "return (covered >= trimmedThrough || PLANTED) &&")
      ]),
    PlantedFault(
      "token of another life", "A token outlives the zone and reads the next one of that name.",
      by: .machines,
      edits: [
        .init(
          position, "$0.write(variable: $1.incarnation)",
          "$0.write(variable: PLANTED ? 0 : $1.incarnation)")
      ]),
    PlantedFault(
      "token ahead", "The token at the end of a zone's feed is one change ahead.",
      by: .machines,
      edits: [
        .init(
          changes, "    let end = max(zone.changedAt, zone.trimmedThrough)",
          "    let end = max(zone.changedAt, zone.trimmedThrough) + (PLANTED ? 1 : 0)")
      ]),
  ]
}
