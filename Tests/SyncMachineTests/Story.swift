import CloudProtocol
import Records
import SyncMachine

/// A driver without threads: carries out instructions one by one and writes down what it saw.
struct Story {
  var machine: SyncMachine
  var now = Moment.start
  /// The options that the app names between requests; `nil` for those of the fetch.
  var options: FetchOptions?
  var log: [String] = []
  /// The request that waits for an answer.
  var request: OutgoingRequest?
  /// What the app does when it is given an event.
  var onEvent: (inout SyncMachine, SyncEvent, Moment) -> Void = { _, _, _ in }
  /// What the app answers when it is asked for a batch.
  var batch: (SyncMachine, SendContext) -> RecordBatch? = Story.everythingPending

  static let zone = ZoneID(name: "Notes")
  static let user = UserID("_a")

  /// Whether the state store refuses writes.
  var isStoreFull = false
  /// The changes that the state store has, in the order of their entries.
  var stored: [StateChange] = []
  /// The sizes that the state store reports.
  var storeSize = StoreSize()
  /// The last snapshot that the state store has.
  var snapshot: SyncState?

  /// The failures of the operations that have ended.
  var failures: [OperationFailure] = []

  init(
    automatically: Bool = false, stores: Bool = false, state: SyncState = SyncState(),
    subscription: SubscriptionID? = nil
  ) {
    var configuration = SyncMachine.Configuration(session: "s", automaticallySync: automatically)
    configuration.subscription = subscription
    configuration.hasStateStore = stores
    configuration.keepsTransitions = true
    machine = SyncMachine(configuration: configuration, state: state)
  }

  /// A story that has begun, with `user` signed in and told.
  static func signedIn(automatically: Bool = false, stores: Bool = false) -> Story {
    var state = SyncState()
    state.user = user
    state.subscription = SyncMachine.ownSubscription
    var story = Story(automatically: automatically, stores: stores, state: state)
    story.signIn()
    story.log = []
    return story
  }

  /// Starts the machine, and answers that `user` is signed in.
  mutating func signIn() {
    machine.start(now: now)
    run()
    answer(.success(.currentUser(Story.user)))
  }

  static func id(_ name: String) -> RecordID { RecordID(name: name, zone: zone) }

  static func everythingPending(_ machine: SyncMachine, _ context: SendContext) -> RecordBatch? {
    var batch = RecordBatch()
    let changes = machine.state.records.prefix(250) { context.scope.contains($0.id) }
    for change in changes {
      switch change.kind {
      case .save: batch.saves.append(RecordSave(id: change.id, type: "Note", changes: []))
      case .delete: batch.deletions.append(change.id)
      }
    }
    return batch.count > 0 ? batch : nil
  }

  /// Goes on until a request is out or nothing is left to do now.
  mutating func run() {
    for _ in 0..<10_000 {
      let instruction = machine.next(now: now)
      let hasWritten = store()
      switch instruction {
      case .deliver(let event):
        log.append(Story.name(event))
        onEvent(&machine, event, now)
        machine.delivered()
      case .askForBatch(let context):
        log.append("batch?")
        machine.provided(batch: batch(machine, context), now: now)
      case .askForFetchOptions(let context): machine.provided(options: options ?? context.options)
      case .send(let outgoing):
        log.append("> \(Story.name(outgoing.request))")
        request = outgoing
      case .abandon:
        log.append("abandon")
        request = nil
      case .finish(_, let outcome):
        log.append(Story.name(outcome))
        if case .failure(let failure) = outcome { failures.append(failure) }
      case .wait where hasWritten: break
      case .wait: return
      }
    }
    log.append("endless")
  }

  /// Performs the writes of the machine; returns whether there were any.
  @discardableResult
  mutating func store() -> Bool {
    var hasWritten = false
    while let write = machine.nextWrite() {
      hasWritten = true
      if isStoreFull {
        log.append("refused")
        machine.storeFailed(now: now)
        continue
      }
      switch write {
      case .append(let changes): stored += changes
      case .replace:
        log.append("replaced")
        snapshot = machine.stateAfterWrite
        storeSize = StoreSize()
      case .rewrite: log.append("rewritten")
      }
      machine.stored(storeSize)
    }
    return hasWritten
  }

  /// Answers the request that is out, and goes on.
  mutating func answer(_ answer: Result<CloudReply, CloudError>) {
    guard let outgoing = request else { return log.append("no request") }
    request = nil
    machine.received(answer, for: outgoing.token, now: now, jitter: 1)
    run()
  }

  /// Answers the record request that is out: with the errors given, the rest well.
  mutating func answerRecords(_ errors: [String: CloudError.Code] = [:]) {
    guard case .modifyRecords(let asked) = request?.request else { return log.append("no records") }
    let saved = asked.save.map { save in
      ItemResult<RecordID, Record>(
        id: save.id,
        errors[save.id.name].map { .failure(CloudError($0, "")) }
          ?? .success(Record(id: save.id, type: "Note", changeTag: ChangeTag("1"))))
    }
    let deleted = asked.delete.map { id in
      ItemResult<RecordID, Done>(
        id: id, errors[id.name].map { .failure(CloudError($0, "")) } ?? .success(Done()))
    }
    answer(.success(.recordsModified(saved: saved, deleted: deleted)))
  }

  /// Answers the zone request that is out: with these errors, the other zones with success.
  mutating func answerZones(_ errors: [String: CloudError.Code] = [:]) {
    guard case .modifyZones(let asked) = request?.request else { return log.append("no zones") }
    let saved = asked.save.map { id in
      ItemResult<ZoneID, Zone>(
        id: id, errors[id.name].map { .failure(CloudError($0, "")) } ?? .success(Zone(id: id)))
    }
    let deleted = asked.delete.map { id in
      ItemResult<ZoneID, Done>(
        id: id, errors[id.name].map { .failure(CloudError($0, "")) } ?? .success(Done()))
    }
    answer(.success(.zonesModified(saved: saved, deleted: deleted)))
  }

  /// Moves the time on, and goes on.
  mutating func advance(_ duration: Duration) {
    now = now + duration
    run()
  }

  mutating func save(_ names: String...) {
    machine.add(names.map { PendingChange(.save, Story.id($0)) }, now: now)
  }

  mutating func send(_ number: UInt64 = 1, scope: SendScope = .all) {
    machine.send(SendContext(reason: .manual, scope: scope), waiter: Waiter(number: number))
    run()
  }

  mutating func fetch(_ number: UInt64 = 1, _ options: FetchOptions = FetchOptions()) {
    machine.fetch(
      FetchContext(reason: .manual, options: options), waiter: Waiter(number: number))
    run()
  }

  /// What waits, as short words.
  var pending: [String] { machine.state.records.pending.map { "\($0.kind) \($0.id.name)" } }

  /// What was seen since the last call.
  mutating func told() -> [String] {
    defer { log = [] }
    return log.filter { $0 != "stateUpdate" }
  }

  static func name(_ outcome: OperationOutcome) -> String {
    switch outcome {
    case .success: "done"
    case .failure(let failure): "failed \(failure.error.code)"
    }
  }

  static func name(_ request: CloudRequest) -> String {
    String(describing: request).prefix { $0 != "(" }.description
  }

  static func name(_ event: SyncEvent) -> String {
    switch event {
    case .accountChange(let change):
      "accountChange " + String(describing: change).prefix { $0 != "(" }
    case .fetchedZoneChanges(let modified, let deleted):
      "fetched \(modified.map(\.id.name)) \(deleted.map(\.id.name))"
    case .fetchedDatabaseChanges(let modified, let deleted):
      "zones \(modified.map(\.name)) \(deleted.map { "\($0.zone.name) \($0.reason)" })"
    case .willFetchZoneChanges(let zone, let startsOver):
      "willFetchZone \(zone.name)\(startsOver ? " over" : "")"
    case .didFetchZoneChanges(let zone, let error):
      "didFetchZone \(zone.name)\(error.map { " \($0.code)" } ?? "")"
    case .sentRecordChanges(let sent):
      "sent \(sent.saved.map { Story.word($0.id.name, $0.error) })"
        + "\(sent.deleted.map { Story.word($0.id.name, $0.error) })"
    case .stateUpdate, .willFetchChanges, .didFetchChanges, .willSendChanges,
      .sentDatabaseChanges, .didSendChanges:
      String(describing: event).prefix { $0 != "(" }.description
    }
  }

  private static func word(_ name: String, _ error: CloudError?) -> String {
    error.map { "\(name) \($0.code)" } ?? name
  }
}

extension ChangeToken {
  static func at(_ position: UInt8) -> ChangeToken { ChangeToken(bytes: [position]) }
}
