import CloudProtocol
import Records
import SyncMachine

/// The checkers of what one app is told and does: order (I14), tokens (I10), pending changes (I3),
/// newer edits (I4), batches (I12), errors (I15), lost zones (I21) and whose data it is (I13).
struct EventChecker {
  struct Fault {
    var invariant: String
    var message: String

    /// A fault with a message; `nil` for none.
    init?(_ invariant: String, _ message: String?) {
      guard let message else { return nil }
      self.invariant = invariant
      self.message = message
    }
  }

  let layout: WorldLayout
  /// The account whose zones the app visits; `nil` for an app on the user's own.
  private let home: Int?
  var pendingChanges: PendingChangeChecker
  private var order = EventOrderChecker()
  private var tokens = TokenChecker()
  private var edits = EditChecker()
  private var batches = BatchChecker()
  private var outcomes = OutcomeChecker()
  private var zones: ZoneLossChecker

  init(layout: WorldLayout, home: Int? = nil) {
    self.layout = layout
    self.home = home
    pendingChanges = PendingChangeChecker(layout: layout)
    zones = ZoneLossChecker(layout: layout)
  }

  /// A run begins with `state`.
  mutating func restart(with state: SyncState) {
    pendingChanges.restart(with: state)
    order = EventOrderChecker()
    tokens.restart(with: state)
    forgetChanges()
  }

  /// Nothing of what was pending is there any more.
  private mutating func forgetChanges() {
    edits = EditChecker()
    batches = BatchChecker()
    outcomes = OutcomeChecker()
    zones = ZoneLossChecker(layout: layout)
  }

  /// An answer is on its way to the engine.
  mutating func note(arrived reply: CloudReply) {
    tokens.note(arrived: reply)
    if case .databaseChanges(let page) = reply { zones.note(arrived: page) }
    if case .zones(let results) = reply { zones.note(arrived: results) }
  }

  /// The faults in delivering `event` now.
  ///
  /// - Parameter lastSequence: The newest edit of the world.
  mutating func faults(
    of event: SyncEvent, with state: SyncState, owner: UserID?, lastSequence: Int
  ) -> [Fault] {
    let changes = changeFaults(of: event, with: state, lastSequence)
    let others = [
      Fault("I14", order.fault(event)), Fault("I10", tokens.fault(in: state)),
      Fault("I10", tokens.fault(giving: event)),
    ]
    return changes + others.compactMap { $0 } + strangers(in: event, owner: owner)
  }

  /// I4, I12, I15 and I21; what is told goes into their books.
  private mutating func changeFaults(
    of event: SyncEvent, with state: SyncState, _ lastSequence: Int
  ) -> [Fault] {
    switch event {
    case .accountChange(.signOut), .accountChange(.switchAccounts):
      forgetChanges()
      return []
    case .sentRecordChanges(let sent):
      edits.note(told: sent.outcomes)
      outcomes.note(told: sent.outcomes, with: state)
      zones.note(given: sent.saved.compactMap { $0.error?.serverRecord })
      return [Fault("I12", batches.fault(telling: sent))].compactMap { $0 } + editFaults(in: state)
    case .sentDatabaseChanges(let sent):
      outcomes.note(told: sent.outcomes, with: state)
      return []
    case .fetchedDatabaseChanges(_, let deleted):
      return zones.faults(telling: deleted, lastSequence: lastSequence)
        .compactMap { Fault("I21", $0) }
    case .fetchedZoneChanges(let modified, _):
      zones.note(given: modified)
      return []
    case .willFetchChanges, .willSendChanges: return changeFaultsAtRest(in: state)
    case .stateUpdate, .accountChange(.signIn), .willFetchZoneChanges, .didFetchZoneChanges,
      .didFetchChanges, .didSendChanges:
      return editFaults(in: state)
    }
  }

  private func editFaults(in state: SyncState) -> [Fault] {
    [Fault("I4", edits.fault(in: state))].compactMap { $0 }
  }

  /// The faults of the pending changes while no operation runs: I4 and I15.
  mutating func changeFaultsAtRest(in state: SyncState) -> [Fault] {
    editFaults(in: state) + outcomes.faults(in: state).compactMap { Fault("I15", $0) }
  }

  /// I21: what is wrong with a request that the engine sends.
  mutating func fault(sending request: ModifyRecords) -> Fault? {
    batches.note(sending: request)
    return Fault("I21", zones.fault(sending: request))
  }

  // MARK: What the app does

  /// The app did something on the engine's state.
  mutating func note(_ call: AppCall) {
    pendingChanges.note(call)
    edits.note(call)
    outcomes.note(call)
  }

  /// It is unknown whether this call had an effect: both are allowed.
  mutating func excuse(_ call: AppCall) {
    pendingChanges.excuse(call)
    edits.excuse(call)
    outcomes.note(call)
  }

  /// The app puts a batch together.
  mutating func noteBuilding() { edits.noteBuilding() }

  /// The engine has the batch that was built last.
  mutating func note(given batch: RecordBatch, addedSince: Set<PendingItem>) {
    pendingChanges.note(given: batch, addedSince: addedSince)
    edits.note(given: batch)
  }

  /// The fault of the tokens at rest; `nil` for none.
  mutating func tokenFault(in state: SyncState) -> String? { tokens.fault(in: state) }

  /// Takes `event` into account.
  mutating func note(_ event: SyncEvent) {
    switch event {
    case .sentRecordChanges(let sent): pendingChanges.note(told: sent.outcomes)
    case .sentDatabaseChanges(let sent): pendingChanges.note(told: sent.outcomes)
    case .didSendChanges: pendingChanges.noteEndOfSend()
    case .accountChange(.signOut), .accountChange(.switchAccounts): pendingChanges.clear()
    case .stateUpdate, .accountChange(.signIn), .willFetchChanges, .fetchedDatabaseChanges,
      .willFetchZoneChanges, .fetchedZoneChanges, .didFetchZoneChanges, .didFetchChanges,
      .willSendChanges:
      break
    }
  }

  /// The app returned.
  mutating func noteReturn() { tokens.noteReturn() }

  /// I13: nothing of another account is given to the app.
  private func strangers(in event: SyncEvent, owner: UserID?) -> [Fault] {
    let records: [Record]
    switch event {
    case .fetchedZoneChanges(let modified, _): records = modified
    case .sentRecordChanges(let sent):
      records = sent.saved.compactMap { $0.value ?? $0.error?.serverRecord }
    case .stateUpdate, .accountChange, .willFetchChanges, .fetchedDatabaseChanges,
      .willFetchZoneChanges, .didFetchZoneChanges, .didFetchChanges, .willSendChanges,
      .sentDatabaseChanges, .didSendChanges:
      return []
    }
    let owner = home ?? owner.flatMap { layout.account(of: $0) }
    return records.compactMap { record in
      if record.type == ShareDetails.recordType { return nil }
      guard let place = layout.place(of: record.id),
        let value = SimulatedValue(record, at: place)
      else {
        return Fault("I13", "is given a record that nobody wrote: \(record.id.name)")
      }
      guard value.account != 0, value.account != owner else { return nil }
      return Fault(
        "I13",
        "is given edit \(value.sequence) of account \(value.account), and belongs to "
          + (owner.map { "account \($0)" } ?? "nobody"))
    }
  }
}
