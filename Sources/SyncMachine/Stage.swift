/// Where a machine stands: the names of its states, without their data.
package enum Stage: String, Hashable, Sendable, CaseIterable {
  /// Made, not started.
  case created
  /// Started, with no account it may use.
  case dormant
  /// An account is there and nothing is under way.
  case idle
  /// Asks the cloud who is signed in.
  case checkingAccount
  /// Tells the app that a fetch begins.
  case announcingFetch
  /// Looks for a subscription on the database.
  case findingSubscription
  /// Creates one.
  case savingSubscription
  /// Asks the app for the options of the next request of a fetch.
  case askingFetchOptions
  /// Decides what the fetch asks for next.
  case choosingZone
  /// Reads a page of the database feed.
  case readingDatabase
  /// Gives the app a page of the database feed.
  case deliveringDatabase
  /// Asks what became of zones that may be gone.
  case checkingZones
  /// Tells the app that the fetch of a zone begins.
  case openingZone
  /// Reads a page of a zone's feed.
  case readingZone
  /// Gives the app a page of a zone's feed.
  case deliveringZone
  /// Tells the app that the fetch of a zone ended.
  case closingZone
  /// Tells the app that a fetch ended.
  case closingFetch
  /// Tells the app that a send begins.
  case announcingSend
  /// Sends zone changes.
  case sendingZones
  /// Tells the app what became of them.
  case deliveringZones
  /// Asks the app for the next batch of records.
  case askingBatch
  /// Sends a batch of records.
  case sendingRecords
  /// Tells the app what became of them.
  case deliveringRecords
  /// Tells the app that a send ended.
  case closingSend
  /// Stopped for good.
  case stopped
}

/// One move from a stage to another.
package struct Transition: Hashable, Sendable {
  /// Where it began.
  package var from: Stage
  /// Where it ended.
  package var to: Stage

  /// A move.
  package init(from: Stage, to: Stage) {
    self.from = from
    self.to = to
  }
}

extension Stage {
  /// A legal move out of a stage, and what causes it.
  package struct Exit: Hashable, Sendable {
    /// Where it leads.
    package var to: Stage
    /// What causes it, in words.
    package var cause: String

    init(_ to: Stage, _ cause: String) {
      self.to = to
      self.cause = cause
    }
  }

  /// Every legal move out of this stage.
  ///
  /// This table is the one truth: the machine asserts it, the simulator checks every move it
  /// sees against it, and `Docs/StateMachine.md` is printed from it.
  package var exits: [Exit] {
    ownExits + interruptions
  }

  /// Whether a fetch is under way.
  package var isFetch: Bool {
    switch self {
    case .announcingFetch, .findingSubscription, .savingSubscription, .askingFetchOptions,
      .choosingZone, .readingDatabase, .deliveringDatabase, .checkingZones, .openingZone,
      .readingZone, .deliveringZone, .closingZone, .closingFetch:
      true
    case .created, .dormant, .idle, .checkingAccount, .announcingSend, .sendingZones,
      .deliveringZones, .askingBatch, .sendingRecords, .deliveringRecords, .closingSend,
      .stopped:
      false
    }
  }

  /// Whether a send is under way.
  package var isSend: Bool {
    switch self {
    case .announcingSend, .sendingZones, .deliveringZones, .askingBatch, .sendingRecords,
      .deliveringRecords, .closingSend:
      true
    case .created, .dormant, .idle, .checkingAccount, .announcingFetch, .findingSubscription,
      .savingSubscription, .askingFetchOptions, .choosingZone, .readingDatabase,
      .deliveringDatabase, .checkingZones, .openingZone, .readingZone, .deliveringZone,
      .closingZone, .closingFetch, .stopped:
      false
    }
  }

  /// Moves that an account change, a cancellation or a stop can cause at any time.
  private var interruptions: [Exit] {
    switch self {
    case .stopped: []
    case .closingFetch, .closingSend, .created, .dormant, .idle, .checkingAccount:
      [Exit(.stopped, "the engine is gone")]
    case .announcingFetch, .findingSubscription, .savingSubscription, .askingFetchOptions,
      .choosingZone, .readingDatabase, .deliveringDatabase, .checkingZones, .openingZone,
      .readingZone, .deliveringZone, .closingZone:
      [
        Exit(.closingFetch, "interrupted by an account change or a cancellation"),
        Exit(.stopped, "the engine is gone"),
      ]
    case .announcingSend, .sendingZones, .deliveringZones, .askingBatch, .sendingRecords,
      .deliveringRecords:
      [
        Exit(.closingSend, "interrupted by an account change or a cancellation"),
        Exit(.stopped, "the engine is gone"),
      ]
    }
  }

  private var ownExits: [Exit] {
    switch self {
    case .created: [Exit(.dormant, "started")]
    case .dormant: [Exit(.checkingAccount, "started, signalled, asked by the app, or retry due")]
    case .idle:
      [
        Exit(.checkingAccount, "an account change was signalled"),
        Exit(.announcingFetch, "asked by the app, a push, the start, or a retry"),
        Exit(.announcingSend, "asked by the app, pending changes, or a retry"),
      ]
    case .checkingAccount:
      [
        Exit(.idle, "somebody is signed in"),
        Exit(.dormant, "nobody is, or it could not be found out"),
      ]
    case .announcingFetch:
      [
        Exit(.findingSubscription, "automatic sync and no subscription known"),
        Exit(.askingFetchOptions, "the app was told"),
      ]
    case .findingSubscription:
      [
        Exit(.savingSubscription, "there is none"),
        Exit(.askingFetchOptions, "there is one, or it could not be found out"),
        Exit(.closingFetch, "the server asks to wait"),
      ]
    case .savingSubscription:
      [
        Exit(.askingFetchOptions, "saved, or not: the fetch goes on"),
        Exit(.closingFetch, "the server asks to wait"),
      ]
    case .askingFetchOptions: [Exit(.choosingZone, "the app answered")]
    case .choosingZone:
      [
        Exit(.readingDatabase, "the list of zones is not read to its end"),
        Exit(.checkingZones, "a zone may be gone"),
        Exit(.deliveringDatabase, "the server lost all it had: zones that are not listed are gone"),
        Exit(.openingZone, "a zone in scope holds changes"),
        Exit(.readingZone, "the open zone has more pages"),
        Exit(.closingZone, "the open zone left the scope"),
        Exit(.closingFetch, "no zone in scope holds changes"),
      ]
    case .readingDatabase:
      [
        Exit(.deliveringDatabase, "a page arrived"),
        Exit(.askingFetchOptions, "the token expired: start over"),
        Exit(.findingSubscription, "the token expired: the subscription may be gone as well"),
        Exit(.closingFetch, "the request failed"),
      ]
    case .deliveringDatabase: [Exit(.askingFetchOptions, "the app has the page: token moves")]
    case .checkingZones:
      [
        Exit(.deliveringDatabase, "answered: zones that are gone have a reason"),
        Exit(.askingFetchOptions, "too many zones at once: fewer may pass"),
        Exit(.closingFetch, "the request failed"),
      ]
    case .openingZone: [Exit(.readingZone, "the app was told")]
    case .readingZone:
      [
        Exit(.deliveringZone, "a page arrived"),
        Exit(.closingZone, "the request failed, or the token expired"),
      ]
    case .deliveringZone:
      [
        Exit(.askingFetchOptions, "the app has the page: token moves; more pages follow"),
        Exit(.closingZone, "the app has the last page: token moves"),
      ]
    case .closingZone:
      [
        Exit(.askingFetchOptions, "the app was told"),
        Exit(.openingZone, "the token expired: the zone starts over"),
        Exit(.closingFetch, "the failure concerns the whole fetch"),
      ]
    case .closingFetch: [Exit(.idle, "the app was told")]
    case .announcingSend, .deliveringZones, .deliveringRecords:
      [
        Exit(.sendingZones, "zone changes are pending"),
        Exit(.sendingRecords, "a split batch has a part left"),
        Exit(.askingBatch, "record changes are pending, or untracked ones"),
        Exit(.closingSend, "nothing is left, or something failed"),
      ]
    case .sendingZones: [Exit(.deliveringZones, "answered, or failed")]
    case .askingBatch:
      [
        Exit(.sendingRecords, "the app gave a batch"),
        Exit(.closingSend, "the app has nothing for now"),
      ]
    case .sendingRecords: [Exit(.deliveringRecords, "answered, failed, or too large: split")]
    case .closingSend: [Exit(.idle, "the app was told")]
    case .stopped: []
    }
  }
}

extension Transition {
  /// Whether the table has this move.
  package var isLegal: Bool { from.exits.contains { $0.to == to } }
}
