public import CloudSync
public import Foundation

/// A place for app data that a ``CloudSyncEngine`` keeps in step with the cloud.
///
/// The engine knows records and errors, the store knows what its items mean. Everything a store is
/// told comes as ``CloudNews``, everything it answers is a ``Verdict``; so a store's rules are a
/// table that tests can walk through without any engine. All methods may be called from any thread.
public protocol SyncedStore: AnyObject, Sendable {
  /// The type of the records this store's items become.
  var recordType: CloudSyncEngine.RecordType { get }

  /// Tells the store whom to tell about local changes. The store keeps a weak reference.
  func connect(to recorder: any ChangeRecorder)

  /// Everything the cloud has not confirmed yet, written down as handed over.
  ///
  /// - Throws: `FileError` when that can't be written down; nothing must be sent then.
  func changesToSend() throws -> (saves: [UUID], deletes: [UUID])

  /// Counts every item as not sent yet, because the cloud lost them or never had them; in memory.
  func markEverythingUnsent()

  /// Copies the item's fields onto `record`; `false` when there is no item with something to send.
  func copyFields(of id: UUID, onto record: CKRecord) -> Bool

  /// Whether the item has a version the cloud has not confirmed.
  func isUnsent(_ id: UUID) -> Bool

  /// Takes in what happened in the cloud, in memory; ``writeDown()`` makes it durable.
  ///
  /// - Returns: one verdict for each piece of news, in the same order.
  func take(_ news: [CloudNews]) -> [Verdict]

  /// Removes every item that syncs, from memory and from the disk, with all that waits to be sent.
  ///
  /// - Throws: `FileError` when the disk refused; memory is empty all the same.
  func forgetEverything() throws

  /// Writes down what is only in memory yet; costs nothing when there is nothing.
  ///
  /// The engine calls it before it saves its own state, so that the state never knows of a change
  /// that the store could still lose.
  ///
  /// - Throws: `FileError` when it can't be written; it stays in memory for the next call.
  func writeDown() throws

  /// Whether the store lost its file or is new, so that the cloud has to be read from its start.
  var needsFullFetch: Bool { get }

  /// Notes that the cloud will be read from its beginning, whatever happens from now on.
  func fullFetchIsCertain()
}

extension SyncedStore {
  /// A store that never loses its file needs no second reading.
  public var needsFullFetch: Bool { false }

  /// Nothing to note.
  public func fullFetchIsCertain() {}
}

/// Whoever is to hear of local changes: the engine, or a test.
public protocol ChangeRecorder: AnyObject, Sendable {
  /// Whether sync is on, so that what is recorded may reach the cloud.
  var isRunning: Bool { get }

  /// Items are new or changed and are to be sent.
  func recordsChanged(_ ids: [UUID], type: CloudSyncEngine.RecordType)

  /// Items are gone and are to be deleted in the cloud.
  func recordsDeleted(_ ids: [UUID], type: CloudSyncEngine.RecordType)
}

extension ChangeRecorder {
  /// One item is new or changed and is to be sent.
  public func recordChanged(_ id: UUID, type: CloudSyncEngine.RecordType) {
    recordsChanged([id], type: type)
  }

  /// One item is gone and is to be deleted in the cloud.
  public func recordDeleted(_ id: UUID, type: CloudSyncEngine.RecordType) {
    recordsDeleted([id], type: type)
  }
}

/// One thing that happened in the cloud to one record of a store.
public enum CloudNews: Sendable {
  /// Another device saved this version, or this device did and hears it back.
  case fetched(CKRecord)
  /// A save was refused: the cloud holds this other version.
  case conflict(CKRecord)
  /// A save was accepted: the cloud holds this version now.
  case saved(CKRecord)
  /// Another device deleted the record.
  case removed(UUID)
  /// This device's deletion is done.
  case deletionDone(UUID)
  /// A save was refused: the record it was to change is gone from the cloud.
  case vanished(UUID)

  /// The item it is about; `nil` when the record's name is not a UUID.
  public var id: UUID? {
    switch self {
    case .fetched(let record), .conflict(let record), .saved(let record):
      UUID(uuidString: record.recordID.recordName)
    case .removed(let id), .deletionDone(let id), .vanished(let id): id
    }
  }
}

/// What has to happen after a piece of news, besides what the store did already.
public struct Verdict: Hashable, Sendable {
  /// What is left to do for the record.
  public enum Duty: Hashable, Sendable {
    /// Store and cloud agree: remember the record's tag, send nothing.
    case none
    /// The store's version is still to be sent.
    case save
    /// The record is still to be deleted in the cloud.
    case delete
    /// The item is nowhere: forget its tag, send nothing.
    case forget
    /// The record makes no sense to this version of the app: leave it alone, and keep it for one
    /// that can read it.
    case ignore
  }

  /// How two versions of one item were brought together.
  public enum Resolution: String, Hashable, Sendable, Codable {
    /// The cloud's version replaced the local one.
    case cloudWon
    /// The local version stays and is sent again.
    case localWon
    /// Both were equal.
    case equal
  }

  /// What is left to do.
  public var duty: Duty

  /// How a conflict ended; `nil` when there was none.
  public var resolution: Resolution?

  /// Whether the items people see changed.
  public var isVisible: Bool

  /// States what is left to do.
  public init(_ duty: Duty, resolution: Resolution? = nil, isVisible: Bool = false) {
    self.duty = duty
    self.resolution = resolution
    self.isVisible = isVisible
  }
}
