public import CloudSync
public import Foundation

/// The fields of one kind of record: the part of an item that is sent to the server.
public protocol SyncedFields: Equatable, Sendable {
  /// The item's ID, which is the record's name.
  var id: UUID { get }

  /// Reads a record; `nil` when this version of the app can't read it.
  init?(_ record: CKRecord)

  /// Copies the fields onto `record`; other fields of the record stay.
  func copy(onto record: CKRecord)
}

/// The items of a ``SyncedDocument``, some of which may stay on the device.
public protocol SyncedItems: Codable, Sendable {
  /// The fields of an item that are sent.
  associatedtype Fields: SyncedFields

  /// Creates an empty collection.
  init()

  /// The IDs of all items that sync.
  var syncedIDs: [UUID] { get }

  /// Whether there is an item with this ID, synced or not.
  func contains(_ id: UUID) -> Bool

  /// The fields of the item `id`; `nil` when there is no such item, or it stays on the device.
  func fields(of id: UUID) -> Fields?

  /// Adds the item that a record describes, or replaces it.
  mutating func show(_ fields: Fields)

  /// Removes the item `id`.
  mutating func remove(_ id: UUID)

  /// Removes all items that sync.
  mutating func removeSynced()

  /// Removes the items that exceed a limit, and returns their IDs.
  mutating func removeSurplus() -> [UUID]

  /// Whether an unsent change is kept although the server has another version.
  ///
  /// - Parameter theirs: the server's version; `nil` when it was deleted or can't be read.
  static func keeps(_ mine: Fields, over theirs: Fields?) -> Bool
}

extension SyncedItems {
  /// There is no limit.
  public mutating func removeSurplus() -> [UUID] { [] }
}

/// A ``SyncedStore`` whose items and outbox are one ``SyncedDocument``.
///
/// A store of this kind states its items; all requirements of `SyncedStore` follow from them.
public protocol DocumentStore: SyncedStore {
  /// The items.
  associatedtype Items: SyncedItems

  /// The items, the outbox, and the file of both.
  var document: SyncedDocument<Items> { get }
}

extension DocumentStore {
  /// The type of the store's records.
  public var recordType: CloudSyncEngine.RecordType { document.recordType }

  /// The file that was damaged and set aside when the store was opened, if any.
  public var recovery: FileRecovery? { document.recovery }

  /// The number of changes that the server has not confirmed.
  public var unsentCount: Int { document.read { _, outbox in outbox.count } }

  /// Sets the receiver of local changes.
  public func connect(to recorder: any ChangeRecorder) {
    document.connect(to: recorder)
  }

  /// The items to save and to delete, stored as handed over.
  public func changesToSend() throws -> (saves: [UUID], deletes: [UUID]) {
    try document.changesToSend()
  }

  /// Marks every synced item as not sent.
  public func markEverythingUnsent() {
    document.take { items, log in
      for id in items.syncedIDs { log.outbox.noteChange(id, isOffered: true) }
    }
  }

  /// Copies the fields of an unsent item onto `record`.
  public func copyFields(of id: UUID, onto record: CKRecord) -> Bool {
    let fields = document.read { items, outbox in
      outbox.unsent.contains(id) ? items.fields(of: id) : nil
    }
    fields?.copy(onto: record)
    return fields != nil
  }

  /// Whether the server has not confirmed the item's latest version.
  public func isUnsent(_ id: UUID) -> Bool {
    document.read { _, outbox in outbox.unsent.contains(id) }
  }

  /// Applies events of the server, and deletes the items that exceed the limit afterwards.
  public func take(_ news: [CloudNews]) -> [Verdict] {
    document.take(news)
  }

  /// Removes every synced item, from memory and disk.
  public func forgetEverything() throws {
    try document.replace { $0.removeSynced() }
  }

  /// Writes the file if it is older than the items.
  public func writeDown() throws {
    try document.writeDown()
  }

  /// Whether the file was lost, or the store is new.
  public var needsFullFetch: Bool { document.needsFullFetch }

  /// Clears ``needsFullFetch``.
  public func fullFetchIsCertain() {
    document.fullFetchIsCertain()
  }
}
