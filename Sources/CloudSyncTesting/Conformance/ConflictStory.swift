import Synchronization

/// A conflict of two devices over one item.
struct ConflictStory: Hashable, Sendable {
  /// What the two devices do.
  enum Actions: String, CaseIterable, Sendable {
    case bothMake = "both make"
    case bothChange = "both change"
    case changeAndDelete = "change and deletion"
    case deleteAndChange = "deletion and change"
    case bothDelete = "both delete"
  }

  var actions: Actions
  /// Whether the later device has fetched before the earlier one sends, so that its send conflicts.
  var isRace: Bool
  /// The device whose change reaches the server first: 0 or 1.
  var earlier: Int
  /// The device whose change was made later: 0 or 1.
  var newer: Int

  /// All conflicts that an app's users can cause.
  static func all(canEdit: Bool, canDelete: Bool) -> [ConflictStory] {
    Actions.allCases.flatMap { actions in
      [false, true].flatMap { isRace in
        [0, 1].flatMap { earlier in
          [0, 1].map { newer in
            ConflictStory(actions: actions, isRace: isRace, earlier: earlier, newer: newer)
          }
        }
      }
    }.filter { (canEdit || !$0.needsEdits) && (canDelete || !$0.needsDeletions) }
  }

  private static let devices = ["first", "second"]

  /// The name, which says what is done, how it meets, and in which orders.
  var name: String {
    "\(actions.rawValue), \(isRace ? "while sending" : "while fetching"), "
      + "\(Self.devices[earlier]) sends first, \(Self.devices[newer]) is newer"
  }

  private var needsEdits: Bool { actions != .bothMake && actions != .bothDelete }

  private var needsDeletions: Bool { deletes(0) || deletes(1) }

  var existsBefore: Bool { actions != .bothMake }

  /// Whether no device deleted the item.
  var mustKeepItem: Bool { !needsDeletions }

  /// The conflict in which the later device fetches the other change before it sends its own.
  var withoutRace: ConflictStory {
    var story = self
    story.isRace = false
    return story
  }

  /// Whether the device of this number deletes the item.
  func deletes(_ device: Int) -> Bool {
    switch actions {
    case .bothMake, .bothChange: false
    case .changeAndDelete: device == 1
    case .deleteAndChange: device == 0
    case .bothDelete: true
    }
  }
}

/// The final items of the conflicts of one run, so that no conflict is played twice.
final class ConflictEnds: Sendable {
  private let ends = Mutex<[ConflictStory: [String: String]]>([:])

  subscript(story: ConflictStory) -> [String: String]? {
    get { ends.withLock { $0[story] } }
    set { ends.withLock { $0[story] = newValue } }
  }
}
