import CloudSync
import Foundation
import LoopbackServer
import VerificationSupport

/// An engine with a state file, that syncs only when told.
final class IdleEngine: Sendable {
  let engine: CKSyncEngine
  private let delegate = Silent()
  private let file: StateFile

  private final class Silent: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
  }

  /// An engine with `count` changes pending in a new file.
  init(_ count: Int) throws {
    file = try StateFile(holding: count)
    engine = try IdleEngine.opened(FileStateStore(url: file.url), delegate)
  }

  /// An engine with what is in `file`, and one change more.
  init(opening file: StateFile) throws {
    self.file = file
    engine = try IdleEngine.opened(FileStateStore(url: file.url), delegate)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(CKRecord.ID(recordName: "one-more"))])
  }

  private static func opened(
    _ store: FileStateStore, _ delegate: Silent
  ) throws -> CKSyncEngine {
    let container = CKContainer(
      identifier: "iCloud.bench", transport: LoopbackServer().device("bench"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    configuration.stateStore = store
    let engine = CKSyncEngine(configuration)
    if let error = engine.stateStoreError { throw error }
    return engine
  }
}

/// The URL of a state file, which is removed with the object.
final class StateFile: Sendable {
  let url: URL
  private let folder: TemporaryFolder

  /// The URL of a file that does not exist.
  init() throws {
    folder = try TemporaryFolder("bench")
    url = folder.url.appendingPathComponent("state")
  }

  /// A file with `count` pending changes.
  convenience init(holding count: Int) throws {
    try self.init()
    try FileStateStore(url: url).replace(with: PendingSample.blob(count))
  }

  /// Writes a file as plainly as can be, and waits until it is on the disk.
  static func write(_ bytes: [UInt8], to url: URL) throws {
    try Data().write(to: url)
    let handle = try FileHandle(forWritingTo: url)
    try handle.write(contentsOf: Data(bytes))
    try handle.synchronize()
    try handle.close()
  }
}
