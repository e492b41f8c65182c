import SyncMachine

/// The situations about shares that a full run must reach: what is done about a share, in each
/// phase of a participant's engine that lasts, and how a participant's changes end.
extension SharingAction {
  static let required: [Situation.Required] =
    allCases.flatMap { action in
      stages.map { stage in
        Situation.Required(
          name: Situation.name(action, stage),
          sentence:
            "\(SituationWords.of("sharing", action.rawValue)) while an engine on the shared "
            + "database \(SituationWords.of("stage", stage.rawValue)).")
      }
    }
    + outcomes.sorted { $0.key < $1.key }.flatMap { change, outcomes in
      outcomes.map {
        Situation.Required(name: "\(change): \($0)", sentence: SituationWords.of(change, $0))
      }
    }

  private static let stages: [Stage] = [
    .idle, .checkingAccount, .findingSubscription, .savingSubscription, .readingDatabase,
    .readingZone, .sendingRecords,
  ]

  private static let outcomes = [
    "participant saves": [
      "done", "serverRecordChanged", "permissionFailure", "zoneNotFound", "referenceViolation",
    ],
    "participant deletes": ["done", "permissionFailure"],
  ]
}
