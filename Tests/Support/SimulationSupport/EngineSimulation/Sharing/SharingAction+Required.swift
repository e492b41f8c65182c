import SyncMachine

/// The situations about shares that a full run must reach: what is done about a share, in each
/// phase of a participant's engine that lasts, and how a participant's changes end.
extension SharingAction {
  static let required: [Situation.Required] =
    allCases.flatMap { action in
      stages.map { stage, words in
        Situation.Required(
          name: Situation.name(action, stage),
          sentence: "\(action.sentence) while an engine on the shared database \(words).")
      }
    }
    + outcomes.map { name, sentence in Situation.Required(name: name, sentence: sentence) }

  private static let stages: [(Stage, String)] = [
    (.idle, "has nothing to do"), (.checkingAccount, "asks who is signed in"),
    (.findingSubscription, "looks for its subscription"),
    (.savingSubscription, "makes its subscription"),
    (.readingDatabase, "reads the list of changed zones"),
    (.readingZone, "reads the changes of a zone"), (.sendingRecords, "sends records"),
  ]

  private static let outcomes = [
    ("participant saves: done", "A participant's save is accepted."),
    ("participant saves: serverRecordChanged", "A participant's save meets a newer version."),
    ("participant saves: permissionFailure", "A participant may not make the change it sends."),
    ("participant saves: zoneNotFound", "A participant writes into a zone it was taken out of."),
    ("participant saves: referenceViolation", "A participant's save has lost its parent."),
    ("participant deletes: done", "A participant's deletion is accepted."),
    ("participant deletes: permissionFailure", "A participant may not delete what it deletes."),
  ]

  private var sentence: String {
    switch self {
    case .share: "The owner makes a share that the user may join"
    case .accept: "The user accepts a share"
    case .permit: "The owner changes what participants may do"
    case .revoke: "The owner takes participants out of a share"
    case .leave: "The user leaves a share on another device"
    case .unshare: "The owner deletes a share"
    }
  }
}
