extension Catalogue {
  /// Faults in the example stores and in what they share.
  static let stores: [PlantedFault] = [
    PlantedFault(
      "tabs: acknowledged too early", "A tab's save that was accepted settles an edit made since.",
      by: .stores("tabs"),
      edits: [
        .init(
          "Examples/SyncSupport/SyncedDocument+News.swift",
          "guard mine == sent else { return Verdict(.save) }",
          "guard mine == sent || PLANTED else { return Verdict(.save) }")
      ]),
    PlantedFault(
      "tabs: conflict not sent again", "After a conflict that this device wins nothing is sent.",
      by: .stores("tabs"),
      edits: [
        .init(
          "Examples/SyncSupport/SyncedDocument+News.swift",
          "      if isUnsent && Items.keeps(mine, over: remote) {\n",
          "      if isUnsent && Items.keeps(mine, over: remote) {\n"
            + "        if PLANTED { log.outbox.noteSettled(remote.id) }\n")
      ]),
    PlantedFault(
      "ideas: confirmed too early", "An idea's change made while one was on its way is not sent.",
      by: .stores("ideas"),
      edits: [
        .init(
          "Examples/IdeaStore/IdeaCore+Sent.swift",
          "    // A change made while this one was on its way is still to be sent.\n"
            + "    if row.changeNumber == number {",
          "    // A change made while this one was on its way is still to be sent.\n"
            + "    if row.changeNumber == number || PLANTED {"
        )
      ]),
    PlantedFault(
      "removal not owed", "The deletion of an item with an unsent edit is not owed to the cloud.",
      by: .stores("tabs"), .stores("clipboard"),
      edits: [
        .init(
          "Examples/SyncSupport/Outbox.swift",
          "    unsent.remove(id)\n    let mayBeKnown = offered.remove(id) != nil",
          "    let wasUnsent = unsent.remove(id) != nil\n"
            + "    let mayBeKnown = offered.remove(id) != nil\n"
            + "    if PLANTED, wasUnsent { return false }")
      ]),
    PlantedFault(
      "achievements: last progress", "Of an achievement's progress the one that came last stays.",
      by: .stores("achievements"),
      edits: [
        .init(
          "Examples/AchievementStore/TieredAchievement+Merge.swift",
          "max(progress.currentValue, other.progress.currentValue)",
          "PLANTED ? other.progress.currentValue : max(progress.currentValue, "
            + "other.progress.currentValue)"
        )
      ]),
    PlantedFault(
      "scores: own score dropped", "A score made meanwhile is lost when the cloud's comes.",
      by: .stores("leaderboards"),
      edits: [
        .init(
          "Examples/LeaderboardStore/SocialBook+News.swift",
          "let joined = scores[name].map { scoring.joined($0.value, theirs) } ?? theirs",
          "let joined = PLANTED ? theirs : scores[name].map { scoring.joined($0.value, theirs) } "
            + "?? theirs"
        )
      ]),
    PlantedFault(
      "vanished record kept by tag", "A record that is gone is sent again with its old tag.",
      by: .stores("tabs"),
      edits: [
        .init(
          "Examples/SyncSupport/CloudSyncEngine+Events.swift",
          "    case .removed(let id), .deletionDone(let id), .vanished(let id):\n"
            + "      state.metadata.drop(id.uuidString)",
          "    case .removed(let id), .deletionDone(let id), .vanished(let id):\n"
            + "      if !PLANTED { state.metadata.drop(id.uuidString) }"
        )
      ]),
  ]
}
