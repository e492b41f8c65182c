import CloudMachine
import CloudProtocol
import Records
import SimulationSupport

/// A cloud with two accounts and a zone each, and short words for asking it things.
final class World {
  static let container = "iCloud.com.example.test"
  static let zone = ZoneID(name: "Z")

  var machine: CloudMachine
  var storage = MemoryStorage(identity: 7)
  var now = Timestamp(secondsSinceReferenceDate: 800_000_000)
  let alice: UserID
  let bob: UserID
  /// Alice's first device, which asks when nothing else is said.
  let phone: Caller
  /// Alice's other device.
  let laptop: Caller
  /// Bob's device.
  let stranger: Caller
  /// A device with no account.
  let guest = Caller(user: nil, device: "guest")
  private var requests = 0
  /// Faults of the server, which change requests and replies.
  var bugs: [PlantedBug] = []

  init(limits: CloudLimits = CloudLimits(), zones: [ZoneID] = [World.zone]) throws {
    machine = CloudMachine(limits: limits)
    alice = try machine.createAccount("alice", in: storage).user
    bob = try machine.createAccount("bob", in: storage).user
    phone = Caller(user: alice, device: "phone")
    laptop = Caller(user: alice, device: "laptop")
    stranger = Caller(user: bob, device: "stranger")
    if !zones.isEmpty {
      _ = try ask(.modifyZones(ModifyZones(save: zones)))
      _ = try ask(.modifyZones(ModifyZones(save: zones)), as: stranger)
    }
  }

  /// Alice's private database.
  var database: DatabaseID { database(of: alice) }

  func database(of user: UserID) -> DatabaseID {
    DatabaseID(
      container: World.container, environment: .development, scope: .private, owner: user)
  }

  /// Asks, and has the whole answer.
  func ask(
    _ request: CloudRequest, as caller: Caller? = nil, in scope: DatabaseScope = .private,
    container: String = World.container, environment: CloudEnvironment = .development,
    expecting user: UserID? = nil, requestID: String? = nil
  ) throws -> CloudAnswer {
    requests += 1
    var answer = try machine.answer(
      CloudCall(
        container: container, environment: environment, database: scope, expectedUser: user,
        requestID: requestID ?? "request-\(requests)",
        request: bugs.reduce(request) { $1.altered($0) }),
      from: caller ?? phone, now: now, in: storage)
    for bug in bugs { answer.result = answer.result.map(bug.altered) }
    return answer
  }

  /// Asks, and has the answer in a line of words.
  func say(
    _ request: CloudRequest, as caller: Caller? = nil, in scope: DatabaseScope = .private
  ) throws -> String { try ask(request, as: caller, in: scope).result.words }

  /// Saves and deletes, and has the answer in a line of words.
  func modify(
    _ save: [RecordSave] = [], delete: [RecordID] = [],
    policy: SavePolicy = .ifServerRecordUnchanged, isAtomic: Bool = true,
    as caller: Caller? = nil, in scope: DatabaseScope = .private
  ) throws -> String {
    try say(
      .modifyRecords(
        ModifyRecords(save: save, delete: delete, policy: policy, isAtomic: isAtomic)),
      as: caller, in: scope)
  }

  /// What is stored as `name`.
  func stored(_ name: String, zone: ZoneID = World.zone) throws -> Record? {
    try storage.record(id(name, zone), in: database)?.record
  }

  /// The names of all live records of a zone, ascending.
  func names(zone: ZoneID = World.zone) throws -> [String] {
    try storage.recordChanges(of: zone, in: database, after: 0, limit: .max)
      .compactMap { $0.record?.id.name }.sorted()
  }

  /// A save with the tag that is stored now.
  func edit(
    _ name: String, _ fields: [String: FieldValue] = [:], parent: String? = nil,
    owners: [String] = [], zone: ZoneID = World.zone
  ) throws -> RecordSave {
    var save = fresh(name, fields, parent: parent, owners: owners, zone: zone)
    save.changeTag = try stored(name, zone: zone)?.changeTag
    return save
  }

  /// One page of a zone's feed.
  func page(
    _ since: ChangeToken? = nil, zone: ZoneID = World.zone, limit: Int? = nil,
    as caller: Caller? = nil
  ) throws -> ZoneChangesPage {
    let request = FetchZoneChanges(zone: zone, since: since, limit: limit)
    guard case .zoneChanges(let page) = try ask(.fetchZoneChanges(request), as: caller).reply()
    else { throw Unexpected() }
    return page
  }

  /// One page of the database feed.
  func databasePage(
    _ since: ChangeToken? = nil, limit: Int? = nil, as caller: Caller? = nil
  ) throws -> DatabaseChangesPage {
    let request = FetchDatabaseChanges(since: since, limit: limit)
    guard
      case .databaseChanges(let page) = try ask(.fetchDatabaseChanges(request), as: caller)
        .reply()
    else { throw Unexpected() }
    return page
  }
}

extension Record {
  /// The record, as stored, in an answer to `user`: whose changes are those of the current owner.
  func answered(to user: UserID) -> Record {
    var record = self
    let own = UserID(ZoneID.currentOwner)
    if record.created?.user == user { record.created?.user = own }
    if record.modified?.user == user { record.modified?.user = own }
    return record
  }
}

/// An answer of the wrong kind.
struct Unexpected: Error {}

func id(_ name: String, _ zone: ZoneID = World.zone) -> RecordID {
  RecordID(name: name, zone: zone)
}

/// A reference that keeps its target from going.
func validating(_ name: String) -> FieldValue {
  .reference(Reference(target: id(name), action: .validate))
}

/// A save of a new record; `owners` are records it goes with.
func fresh(
  _ name: String, _ fields: [String: FieldValue] = [:], parent: String? = nil,
  owners: [String] = [], zone: ZoneID = World.zone, type: String = "Note",
  tag: String? = nil
) -> RecordSave {
  var changes = fields.sorted { $0.key < $1.key }.map {
    RecordSave.Change(key: $0.key, field: Field($0.value))
  }
  for (index, owner) in owners.enumerated() {
    changes.append(
      RecordSave.Change(
        key: "owner\(index)",
        field: Field(.reference(Reference(target: id(owner, zone), action: .deleteSelf)))))
  }
  return RecordSave(
    id: id(name, zone), type: type, changeTag: tag.map { ChangeTag($0) }, changes: changes,
    parent: parent.map { .set(id($0, zone)) } ?? .keep)
}
