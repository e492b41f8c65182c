import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// An app of lists with reminders, subtasks, tags and private positions, with one engine for the
/// user's own database and one for what others share, and an answer to everything that happens.
final class ListsApp: CKSyncEngineDelegate {
  struct Contents {
    var tables: [String: ListsTable] = [:]
    var rows: [CKRecord.ID: ListsRow] = [:]
    /// Records whose parent did not come yet.
    var orphans: [CKRecord.ID: CKRecord] = [:]
    /// Records of types that this version does not know.
    var opaque: [CKRecord.ID: CKRecord] = [:]
    var shares: [CKRecord.ID: CKShare] = [:]
    /// The changes that were made while no engine ran.
    var waiting: [CKSyncEngine.PendingRecordZoneChange] = []
    var states: [CKDatabase.Scope: CKSyncEngine.State.Serialization] = [:]
    /// Records to read again, because the server refused their deletion.
    var refetch: [CKRecord.ID] = []
    var clock = 0
    var keepsDataAtSignOut = false
  }

  static let container = "iCloud.lists"
  static let zone = CKRecordZone(zoneName: "Lists")

  let contents = Mutex(Contents())
  let device: LoopbackDevice
  let container: CKContainer
  private let engines = Mutex<[CKDatabase.Scope: CKSyncEngine]>([:])

  init(
    _ server: LoopbackServer, _ name: String, account: String = "alice",
    tables: [ListsTable] = ListsTable.all, starts: Bool = true
  ) {
    device = server.device(name, signedInAs: account)
    container = CKContainer(identifier: ListsApp.container, transport: device)
    contents.withLock { $0.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) }) }
    if starts { start() }
  }

  // MARK: The engines

  func start() {
    let states = contents.withLock { $0.states }
    for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
      var configuration = CKSyncEngine.Configuration(
        database: database, stateSerialization: states[database.databaseScope], delegate: self)
      configuration.automaticallySync = false
      configuration.clock = LeapingClock()
      let engine = CKSyncEngine(configuration)
      engines.withLock { $0[database.databaseScope] = engine }
    }
    let waiting = contents.withLock { contents in
      defer { contents.waiting = [] }
      return contents.waiting
    }
    for change in waiting { enqueue(change) }
  }

  func stop() { engines.withLock { $0 = [:] } }

  func engine(_ scope: CKDatabase.Scope) -> CKSyncEngine? { engines.withLock { $0[scope] } }

  func database(of id: CKRecord.ID) -> CKDatabase {
    id.zoneID.ownerName == CKCurrentUserDefaultName
      ? container.privateCloudDatabase : container.sharedCloudDatabase
  }

  func enqueue(_ change: CKSyncEngine.PendingRecordZoneChange) {
    let id: CKRecord.ID
    switch change {
    case .saveRecord(let record), .deleteRecord(let record): id = record
    @unknown default: return
    }
    guard let engine = engine(database(of: id).databaseScope) else {
      return contents.withLock { $0.waiting.append(change) }
    }
    if id.zoneID == ListsApp.zone.zoneID {
      engine.state.add(pendingDatabaseChanges: [.saveZone(ListsApp.zone)])
    }
    engine.state.add(pendingRecordZoneChanges: [change])
  }

  /// Fetches and sends on both engines, as often as conflicts make it necessary.
  func sync(fetchingFirst: Bool = true) async throws {
    for round in 0..<6 {
      var isDone = true
      for scope in [CKDatabase.Scope.private, .shared] {
        guard let engine = engine(scope) else { continue }
        if fetchingFirst || round > 0 { try? await engine.fetchChanges() }
        do { try await engine.sendChanges() } catch { isDone = false }
        if !engine.state.pendingRecordZoneChanges.isEmpty { isDone = false }
      }
      try await readAgain()
      if isDone { return }
    }
  }

  private func readAgain() async throws {
    let ids = contents.withLock { contents in
      defer { contents.refetch = [] }
      return contents.refetch
    }
    for id in ids {
      if let record = try? await database(of: id).record(for: id) { apply([record]) }
    }
  }

  // MARK: What the user does

  static func id(_ type: String, _ name: String, in zone: CKRecordZone.ID = zone.zoneID)
    -> CKRecord.ID
  {
    CKRecord.ID(recordName: "\(type):\(name)", zoneID: zone)
  }

  /// Makes or edits a row; `at` is when, by the app's own clock.
  @discardableResult
  func put(
    _ type: String, _ name: String, _ values: [String: String] = [:],
    under parent: CKRecord.ID? = nil, at time: Int? = nil
  ) throws -> CKRecord.ID {
    let table = try table(type)
    let zone = table.isPrivate ? ListsApp.zone.zoneID : parent?.zoneID ?? ListsApp.zone.zoneID
    var id = ListsApp.id(type, name, in: zone)
    if parent == nil, let known = row(named: id.recordName) { id = known }
    try checkPermission(id.zoneID)
    contents.withLock { contents in
      contents.clock = max(contents.clock, time ?? 0) + 1
      let now = time ?? contents.clock
      var row = contents.rows[id] ?? ListsRow(type: type, values: table.defaults)
      for (field, value) in values {
        row.values[field] = value
        row.edits[field] = now
      }
      if let parent, row.parent != parent {
        row.parent = parent
        row.parentEdit = now
      }
      contents.rows[id] = row
    }
    // A type that is not registered yet goes up when it is.
    enqueue(.saveRecord(id))
    return id
  }

  /// Deletes a row with all that hangs under it; a list of somebody else's is left instead.
  func delete(_ id: CKRecord.ID) throws {
    guard contents.withLock({ $0.rows[id] != nil }) else { throw ListsError.notThere }
    let isRoot = contents.withLock { $0.rows[id]?.parent == nil }
    if isRoot, id.zoneID.ownerName != CKCurrentUserDefaultName {
      let share = contents.withLock { contents in
        contents.rows = contents.rows.filter { $0.key.zoneID != id.zoneID }
        let share = contents.shares.keys.first { $0.zoneID == id.zoneID }
        if let share { contents.shares[share] = nil }
        return share
      }
      if let share { enqueue(.deleteRecord(share)) }
      return
    }
    try checkPermission(id.zoneID)
    for id in subtree(of: id).reversed() {
      contents.withLock { $0.rows[id] = nil }
      enqueue(.deleteRecord(id))
    }
  }

  /// Puts a row with all that hangs under it below another parent, in that one's zone.
  @discardableResult
  func move(_ id: CKRecord.ID, under parent: CKRecord.ID) throws -> CKRecord.ID {
    try checkPermission(id.zoneID)
    try checkPermission(parent.zoneID)
    guard id.zoneID != parent.zoneID else {
      let name = String(id.recordName.split(separator: ":")[1])
      let type = try #require(contents.withLock { $0.rows[id]?.type })
      return try put(type, name, under: parent)
    }
    var places = [id: CKRecord.ID(recordName: id.recordName, zoneID: parent.zoneID)]
    let tree = subtree(of: id)
    for old in tree {
      let isPrivate = contents.withLock { contents in
        contents.rows[old].flatMap { contents.tables[$0.type]?.isPrivate } ?? false
      }
      let new = isPrivate ? old : CKRecord.ID(recordName: old.recordName, zoneID: parent.zoneID)
      places[old] = new
      contents.withLock { contents in
        guard var row = contents.rows.removeValue(forKey: old) else { return }
        contents.clock += 1
        row.parent = old == id ? parent : row.parent.flatMap { places[$0] }
        row.parentEdit = contents.clock
        if new != old { row.server = nil }
        contents.rows[new] = row
      }
      enqueue(.saveRecord(new))
    }
    for old in tree.reversed() where places[old] != old { enqueue(.deleteRecord(old)) }
    return places[id] ?? id
  }

  /// A later version of the app knows another table, or more fields of one.
  func register(_ table: ListsTable) {
    let isNew = contents.withLock { contents in
      defer { contents.tables[table.name] = table }
      return contents.tables[table.name] == nil
    }
    let (opaque, rows) = contents.withLock { contents in
      let opaque = contents.opaque.values.filter { $0.recordType == table.name }
      for record in opaque { contents.opaque[record.recordID] = nil }
      return (opaque, contents.rows.filter { $0.value.type == table.name })
    }
    apply(opaque)
    for (id, row) in rows {
      contents.withLock { contents in
        for field in table.fields where contents.rows[id]?.values[field] == nil {
          // What an earlier version was sent and did not know is in the cached record.
          contents.rows[id]?.values[field] =
            row.server?[field] as? String ?? table.defaults[field]
        }
      }
      if isNew, row.server == nil { enqueue(.saveRecord(id)) }
    }
  }

  // MARK: Looking

  /// The rows by name, with what they say.
  var rows: [String: [String: String]] {
    contents.withLock { contents in
      Dictionary(
        contents.rows.map { ($0.key.recordName, $0.value.values) }
      ) { first, _ in first }
    }
  }

  func value(_ id: CKRecord.ID, _ field: String) -> String? {
    contents.withLock { $0.rows[id]?.values[field] }
  }

  func parent(_ id: CKRecord.ID) -> String? {
    contents.withLock { $0.rows[id]?.parent?.recordName }
  }

  func row(named name: String) -> CKRecord.ID? {
    contents.withLock { $0.rows.keys.first { $0.recordName == name } }
  }

  func table(_ name: String) throws -> ListsTable {
    guard let table = contents.withLock({ $0.tables[name] }) else {
      throw ListsError.unknownTable(name)
    }
    return table
  }

  func checkPermission(_ zone: CKRecordZone.ID) throws {
    guard zone.ownerName != CKCurrentUserDefaultName else { return }
    let share = contents.withLock { $0.shares.first { $0.key.zoneID == zone }?.value }
    let permission =
      share.map {
        max($0.publicPermission.rawValue, $0.currentUserParticipant?.permission.rawValue ?? 0)
      }
    if let permission, permission < CKShare.ParticipantPermission.readWrite.rawValue {
      throw ListsError.readOnly
    }
  }

  /// A row and all that hangs under it, parents first.
  func subtree(of id: CKRecord.ID) -> [CKRecord.ID] {
    let children = contents.withLock { contents in
      contents.rows.filter { $0.value.parent == id }.keys.sorted { $0.recordName < $1.recordName }
    }
    return [id] + children.flatMap { subtree(of: $0) }
  }
}
