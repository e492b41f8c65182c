import CloudProtocol
import Records
import SyncMachine

/// The checkers of what one app is told: order (I14), tokens (I10), pending changes (I3, I4) and
/// whose data it is (I13).
struct EventWatch {
  struct Fault {
    var invariant: String
    var message: String
  }

  let layout: WorldLayout
  var ledger: PendingLedger
  private var order = EventOrderChecker()
  private var tokens = TokenChecker()

  init(layout: WorldLayout) {
    self.layout = layout
    ledger = PendingLedger(layout: layout)
  }

  /// A run begins with `state`.
  mutating func restart(with state: SyncState) {
    ledger.restart(with: state)
    order = EventOrderChecker()
    tokens.restart(with: state)
  }

  /// An answer is on its way to the engine.
  mutating func note(arrived reply: CloudReply) { tokens.note(arrived: reply) }

  /// What is wrong with telling `event` now.
  mutating func faults(of event: SyncEvent, with state: SyncState, owner: UserID?) -> [Fault] {
    var faults: [Fault] = []
    if let fault = order.fault(event) { faults.append(Fault(invariant: "I14", message: fault)) }
    if let fault = tokens.fault(in: state) { faults.append(Fault(invariant: "I10", message: fault)) }
    if let fault = tokens.fault(giving: event) {
      faults.append(Fault(invariant: "I10", message: fault))
    }
    return faults + strangers(in: event, owner: owner)
  }

  /// What is wrong with the tokens at rest.
  mutating func tokenFault(in state: SyncState) -> String? { tokens.fault(in: state) }

  /// Takes `event` into the books.
  mutating func note(_ event: SyncEvent) {
    switch event {
    case .sentRecordChanges(let sent): ledger.note(told: sent)
    case .sentDatabaseChanges(let sent): ledger.note(told: sent)
    case .didSendChanges: ledger.noteEndOfSend()
    case .accountChange(.signOut), .accountChange(.switchAccounts): ledger.clear()
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
    let owner = owner.flatMap { layout.account(of: $0) }
    return records.compactMap { record in
      guard let place = layout.place(of: record.id),
        let value = SimulatedValue(record, at: place)
      else {
        return Fault(
          invariant: "I13", message: "is given a record that nobody wrote: \(record.id.name)")
      }
      guard value.account != 0, value.account != owner else { return nil }
      return Fault(
        invariant: "I13",
        message: "is given edit \(value.sequence) of account \(value.account), and belongs to "
          + (owner.map { "account \($0)" } ?? "nobody"))
    }
  }
}
