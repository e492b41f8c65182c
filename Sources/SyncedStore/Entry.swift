import Foundation

/// Everything that a store knows about one record: the item, the record's system fields and the
/// change that the server has not confirmed.
///
/// They are stored together.
struct Entry: Sendable {
  /// A change that the server has not confirmed.
  struct Change: Hashable, Sendable {
    var isDeletion: Bool
    /// Distinguishes changes of the same item; ascending.
    var number: UInt64
    /// Whether this change or an earlier one of the record was handed to an engine, so that the
    /// server may have the record.
    var wasOffered = false
    /// Whether this very change was handed to an engine, so that the server may have this version.
    var isHandedOver = false
  }

  var type: CKRecord.RecordType
  /// The position among all items, in the order in which they were created.
  var order: UInt64
  /// The item that the app sees; `nil` if it is deleted or unreadable.
  var item: (any SyncedItem)?
  /// The system fields as last seen; `nil` if the server is not known to have the record.
  var systemFields: Data?
  /// The server's version that an unsent change is based on.
  var base: (any SyncedItem)?
  /// Earlier versions that were handed to an engine and not confirmed, oldest first; the server may
  /// have one of them.
  var offered: [any SyncedItem] = []
  var change: Change?
  /// The whole record that this version of the app can't read.
  var unreadable: Data?

  init(type: CKRecord.RecordType, order: UInt64) {
    self.type = type
    self.order = order
  }

  /// Whether a record is a version that the unsent change was made on top of.
  ///
  /// - Parameter read: reads it with the properties of a version that are not sent.
  func isOlder(_ read: (any SyncedItem) -> (any SyncedItem)?) -> Bool {
    (offered + (base.map { [$0] } ?? [])).contains { $0.isEqual(to: read($0)) }
  }

  /// The most earlier versions that are kept.
  private static let mostOffered = 16

  /// Puts a change in place of the last one, if any, and keeps its version if the server may have
  /// it.
  mutating func replaceChange(of version: (any SyncedItem)?, by newer: Change) {
    let older = change
    change = newer
    change?.wasOffered = older.map { $0.wasOffered || $0.isDeletion } ?? false
    guard let version, older?.isHandedOver == true else { return }
    offered.append(version)
    // The first is the likeliest: its answer was lost, and what followed never left the device.
    if offered.count > Self.mostOffered { offered.remove(at: 1) }
  }

  /// Forgets the change, which the server has.
  mutating func settle() {
    change = nil
    base = nil
    offered = []
  }

  /// Whether the change can be sent; a save can't while the server has an unreadable version.
  var isDue: Bool { change.map { $0.isDeletion || unreadable == nil } ?? false }

  /// Whether the server may have the record.
  var mayBeOnServer: Bool { systemFields != nil || change?.wasOffered == true }

  /// Whether the server is known to have the base of the change.
  var isBaseOnServer: Bool {
    systemFields != nil && unreadable == nil && offered.isEmpty && change?.isDeletion == false
      && change?.isHandedOver == false
  }

  /// Whether there is nothing left to know.
  var isEmpty: Bool {
    item == nil && change == nil && unreadable == nil
  }

  /// Forgets the record, which the server does not have.
  mutating func forgetRecord() {
    systemFields = nil
    base = nil
    offered = []
    unreadable = nil
  }
}

/// A database of a container, as the file of the items names it.
struct DatabaseName: Codable, Hashable, Sendable {
  var container: String
  /// The raw value of the scope.
  var scope: Int
}

/// What a store keeps besides its items.
struct StoreSettings: Codable, Hashable, Sendable {
  /// A zone of the database; it may be one that the store does not accept.
  struct Zone: Codable, Hashable, Sendable {
    var name: String
    var owner: String
    /// Whether the zone exists on the server, as far as is known.
    var exists = false
    /// The whole record of the zone's share.
    var share: Data?
    /// Whether the account had access to the zone of another owner and lost it; `nil` if not.
    var isAccessLost: Bool?

    var id: CKRecordZone.ID { CKRecordZone.ID(zoneName: name, ownerName: owner) }

    /// The zone in a message.
    var words: String { owner == CKCurrentUserDefaultName ? name : "\(name) of \(owner)" }
  }

  /// The user record's name of the account that the items belong to; `nil` before any sign-in.
  var owner: String?
  /// Whether the user wants sync; `nil` if undecided.
  var isEnabled: Bool?
  var lastSync: Date?
  /// The checksums of the last states of the engine, each stored before the state itself.
  ///
  /// A state that is not among them knows of items that this file has not, because it is new, was
  /// damaged or restored: everything has to be fetched again.
  var states: [String] = []
  /// Values of the app that are removed with the account's items.
  var properties: [String: String] = [:]
  var zones: [Zone] = []
  /// The database that the items belong to; `nil` before the first start, and in files of older
  /// versions.
  var database: DatabaseName?
  /// The zone of the items that are stored without one; `nil` in files of older versions.
  var defaultZone: Zone?

  /// Notes a state of the engine; the one before may still be on the disk after a crash.
  ///
  /// - Parameter isReplacing: whether the last one could not be written, so that the disk has the
  ///   one before it.
  mutating func noteState(_ checksum: String, replacingLast isReplacing: Bool = false) {
    if isReplacing { _ = states.popLast() }
    states = (states + [checksum]).suffix(2)
  }

  /// The owner of items whose file was damaged: no account has this name, so that the next sign-in
  /// removes them and fetches its own.
  static let unknownOwner = "?"
}
