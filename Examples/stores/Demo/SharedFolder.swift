import CloudSync
import Synchronization

/// A folder of notes on one device, in the user's private or shared database.
final class SharedFolder: CKSyncEngineDelegate {
  private struct Contents {
    var records: [CKRecord.ID: CKRecord] = [:]
    var refusals: [CKError] = []
  }

  static let zone = CKRecordZone(zoneName: "Folder")

  let container: CKContainer
  private let contents = Mutex(Contents())
  private let running = Mutex<CKSyncEngine?>(nil)

  /// Opens the folder on the device called `name` of `cloud`, in a container beside the stores'.
  init(_ cloud: some Cloud, device name: String, account: String, _ scope: CKDatabase.Scope) {
    container = CKContainer(
      identifier: "\(cloud.container).folders",
      transport: cloud.device(name, account: account).transport)
    var configuration = CKSyncEngine.Configuration(
      database: container.database(with: scope), stateSerialization: nil, delegate: self)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    running.withLock { $0 = engine }
    if scope == .private {
      engine.state.add(pendingDatabaseChanges: [.saveZone(SharedFolder.zone)])
    }
  }

  /// The folder and its notes by name, without the share.
  var records: [String: CKRecord] {
    contents.withLock { contents in
      let notes = contents.records.values.filter { !($0 is CKShare) }
      return Dictionary(notes.map { ($0.recordID.recordName, $0) }) { first, _ in first }
    }
  }

  /// The text of a note.
  func text(_ name: String) -> String? { records[name]?["text"] }

  /// The errors of records since the last call.
  func refusals() -> [CKError] {
    contents.withLock { contents in
      defer { contents.refusals = [] }
      return contents.refusals
    }
  }

  /// Creates or changes a note, or without a parent the folder itself.
  func write(_ text: String, as name: String, under parent: String? = nil) {
    let folder = records.values.first { $0.recordType == "Folder" }
    let zone = folder?.recordID.zoneID ?? SharedFolder.zone.zoneID
    let id = CKRecord.ID(recordName: name, zoneID: zone)
    let record =
      records[name] ?? CKRecord(recordType: parent == nil ? "Folder" : "Note", recordID: id)
    record["text"] = text
    if let parent { record.setParent(CKRecord.ID(recordName: parent, zoneID: zone)) }
    contents.withLock { $0.records[id] = record }
    running.withLock { $0 }?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
  }

  /// Fetches, then sends; errors of single records are in `refusals`.
  func sync() async throws {
    guard let engine = running.withLock({ $0 }) else { return }
    try await engine.fetchChanges()
    do { try await engine.sendChanges() } catch CKError.partialFailure {}
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    contents.withLock { contents in
      switch event {
      case .fetchedDatabaseChanges(let changes):
        for deletion in changes.deletions {
          contents.records = contents.records.filter { $0.key.zoneID != deletion.zoneID }
        }
      case .fetchedRecordZoneChanges(let changes):
        for change in changes.modifications {
          contents.records[change.record.recordID] = change.record
        }
        for deletion in changes.deletions { contents.records[deletion.recordID] = nil }
      case .sentRecordZoneChanges(let sent):
        for record in sent.savedRecords { contents.records[record.recordID] = record }
        contents.refusals += sent.failedRecordSaves.map(\.error)
      default: break
      }
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges(in: context.options.scope)
    let records = contents.withLock { $0.records }
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { records[$0] }
  }
}
