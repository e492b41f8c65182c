/// The states of a machine, without their data.
package enum Stage: String, Hashable, Sendable, CaseIterable {
  /// Created, not started.
  case created
  /// Started, without a usable account.
  case dormant
  /// Signed in, without a running operation.
  case idle
  /// Asks the server for the signed-in account.
  case checkingAccount
  /// Reports the beginning of a fetch to the app.
  case announcingFetch
  /// Looks for a subscription in the database.
  case findingSubscription
  /// Creates a subscription.
  case savingSubscription
  /// Asks the app for the options of the next request of a fetch.
  case askingFetchOptions
  /// Chooses the next request of the fetch.
  case choosingZone
  /// Fetches a page of database changes.
  case readingDatabase
  /// Delivers a page of database changes to the app.
  case deliveringDatabase
  /// Asks the server for the state of zones that may have been deleted.
  case checkingZones
  /// Reports the beginning of a zone's fetch to the app.
  case openingZone
  /// Fetches a page of a zone's changes.
  case readingZone
  /// Delivers a page of a zone's changes to the app.
  case deliveringZone
  /// Reports the end of a zone's fetch to the app.
  case closingZone
  /// Reports the end of a fetch to the app.
  case closingFetch
  /// Reports the beginning of a send to the app.
  case announcingSend
  /// Sends zone changes.
  case sendingZones
  /// Reports the results of the zone changes to the app.
  case deliveringZones
  /// Asks the app for the next batch of records.
  case askingBatch
  /// Sends a batch of records.
  case sendingRecords
  /// Reports the results of the batch to the app.
  case deliveringRecords
  /// Reports the end of a send to the app.
  case closingSend
  /// Stopped; final.
  case stopped

  /// A legal transition out of a stage, and its cause.
  package struct Exit: Hashable, Sendable {
    /// The stage it leads to.
    package var to: Stage
    /// The cause, as text.
    package var cause: String

    init(_ to: Stage, _ cause: String) {
      self.to = to
      self.cause = cause
    }
  }

  /// All legal transitions out of this stage.
  ///
  /// The machine asserts this table, the simulator checks every transition against it, and
  /// `Docs/StateMachine.md` is generated from it.
  package var exits: [Exit] {
    ownExits + interruptions
  }

  /// Whether a send is running.
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

  /// Transitions that an account change, a cancellation or a stop can cause at any time.
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

/// A transition from one stage to another.
package struct Transition: Hashable, Sendable {
  /// The stage before.
  package var from: Stage
  /// The stage after.
  package var to: Stage

  /// Creates a transition.
  package init(from: Stage, to: Stage) {
    self.from = from
    self.to = to
  }
}

extension Transition {
  /// Whether the transition table contains this transition.
  package var isLegal: Bool { from.exits.contains { $0.to == to } }
}
