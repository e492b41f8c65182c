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
      [Exit(.stopped, "the engine was deallocated")]
    case .announcingFetch, .findingSubscription, .savingSubscription, .askingFetchOptions,
      .choosingZone, .readingDatabase, .deliveringDatabase, .checkingZones, .openingZone,
      .readingZone, .deliveringZone, .closingZone:
      [
        Exit(.closingFetch, "interrupted by an account change or a cancellation"),
        Exit(.stopped, "the engine was deallocated"),
      ]
    case .announcingSend, .sendingZones, .deliveringZones, .askingBatch, .sendingRecords,
      .deliveringRecords:
      [
        Exit(.closingSend, "interrupted by an account change or a cancellation"),
        Exit(.stopped, "the engine was deallocated"),
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
        Exit(.idle, "an account is signed in"),
        Exit(.dormant, "no account is signed in, or the check failed"),
      ]
    case .announcingFetch:
      [
        Exit(.findingSubscription, "automatic sync and no subscription known"),
        Exit(.askingFetchOptions, "the delegate has returned"),
      ]
    case .findingSubscription:
      [
        Exit(.savingSubscription, "the server has none"),
        Exit(.askingFetchOptions, "the server has one, or the check failed"),
        Exit(.closingFetch, "the server asks to wait"),
      ]
    case .savingSubscription:
      [
        Exit(.askingFetchOptions, "saved, or refused: the fetch continues"),
        Exit(.closingFetch, "the server asks to wait"),
      ]
    case .askingFetchOptions: [Exit(.choosingZone, "the delegate has returned the options")]
    case .choosingZone:
      [
        Exit(.readingDatabase, "the list of zones was not read to its end"),
        Exit(.checkingZones, "a zone may be missing"),
        Exit(.deliveringDatabase, "the server has lost its data: unlisted zones are removed"),
        Exit(.openingZone, "a zone in scope has changes"),
        Exit(.readingZone, "the open zone has more pages"),
        Exit(.closingZone, "the open zone left the scope"),
        Exit(.closingFetch, "no zone in scope has changes"),
      ]
    case .readingDatabase:
      [
        Exit(.deliveringDatabase, "a page arrived"),
        Exit(.askingFetchOptions, "the token expired: start over"),
        Exit(.findingSubscription, "the token expired: the subscription may be missing as well"),
        Exit(.closingFetch, "the request failed"),
      ]
    case .deliveringDatabase:
      [Exit(.askingFetchOptions, "the delegate has returned: the token advances")]
    case .checkingZones:
      [
        Exit(.deliveringDatabase, "answered: each removed zone has a reason"),
        Exit(.askingFetchOptions, "too many zones in one request: retried with fewer"),
        Exit(.closingFetch, "the request failed"),
      ]
    case .openingZone: [Exit(.readingZone, "the delegate has returned")]
    case .readingZone:
      [
        Exit(.deliveringZone, "a page arrived"),
        Exit(.closingZone, "the request failed, or the token expired"),
      ]
    case .deliveringZone:
      [
        Exit(
          .askingFetchOptions, "the delegate has returned: the token advances; more pages follow"),
        Exit(.closingZone, "the delegate has returned from the last page: the token advances"),
      ]
    case .closingZone:
      [
        Exit(.askingFetchOptions, "the delegate has returned"),
        Exit(.openingZone, "the token expired: the zone starts over"),
        Exit(.closingFetch, "the failure concerns the whole fetch"),
      ]
    case .closingFetch: [Exit(.idle, "the delegate has returned")]
    case .announcingSend, .deliveringZones, .deliveringRecords:
      [
        Exit(.sendingZones, "zone changes are pending"),
        Exit(.sendingRecords, "a part of a split batch remains"),
        Exit(.askingBatch, "record changes are pending, or untracked ones"),
        Exit(.closingSend, "nothing remains to send, or a request failed"),
      ]
    case .sendingZones: [Exit(.deliveringZones, "answered, or failed")]
    case .askingBatch:
      [
        Exit(.sendingRecords, "the delegate has returned a batch"),
        Exit(.closingSend, "the delegate has returned no batch"),
      ]
    case .sendingRecords: [Exit(.deliveringRecords, "answered, failed, or too large: split")]
    case .closingSend: [Exit(.idle, "the delegate has returned")]
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
