import Foundation
import SyncSupport

/// The server's version of an item, as far as it is known here: the ancestor of the next edit.
struct CloudCopy: Hashable, Sendable, Codable {
  var fields: Fields
  /// The record's tag; `nil` if the fields may be older than the server's.
  var tag: String?
  /// The record without its fields, to save the next version with.
  var system: Data
  /// The name of the share that the record is in.
  var share: String?
}

/// Two edits that a person has to decide between.
struct Dispute: Hashable, Sendable, Codable {
  /// The version that both edits came from; `nil` if it is not known.
  var ancestor: Fields?
  /// The fields that both changed, by name.
  var fields: [String]
  var since: Date
  /// Whether the other edit removed the item permanently.
  var isGoneThere = false
}

/// The reason why the server refuses an item.
struct Refusal: Hashable, Sendable, Codable {
  /// The number of the CloudKit error.
  var code: Int
  /// What happened and what to do, without content.
  var message: String
}

/// A change that the server has not confirmed.
struct QueuedChange: Hashable, Sendable, Codable {
  enum Kind: String, Hashable, Sendable, Codable {
    case save
    case delete
  }

  var change: Kind
  /// Distinguishes changes of the same item; ascending.
  var number: UInt64
}

/// One item as it is stored: the server's version, and this device's if it is different.
struct StoredItem: Hashable, Sendable, Codable {
  var id: UUID
  var kind: ItemKind
  /// The owner of its zone; `nil` for the account.
  var owner: String?
  var cloud: CloudCopy?
  /// This device's version; `nil` if it is the server's.
  var mine: Fields?
  /// The versions that were sent and not answered, the newest last: the server may have any.
  var offered: [Fields]?
  /// A contradiction that the user has to decide; nothing is sent before.
  var dispute: Dispute?
  var refusal: Refusal?
  /// The change that waits in the offline queue.
  var change: QueuedChange?

  /// Whether the server has a version, or may have one that was sent without an answer.
  var mayBeOnServer: Bool { cloud != nil || offered != nil }

  /// Whether it waits to be removed from the server permanently; it is not shown any more.
  var isPurged: Bool { change?.change == .delete }

  /// The fields on this device.
  var fields: Fields { mine ?? cloud?.fields ?? [:] }

  /// The parent's ID; `nil` for an item without a parent.
  var parent: UUID? { kind.parent.flatMap { fields[link: $0.field] } }

  var recordID: CKRecord.ID { AnnotationZone.recordID(id, owner: owner) }

  var status: SyncItemStatus {
    if isPurged { return .pendingDelete }
    if dispute != nil { return .conflict }
    if refusal != nil { return .error }
    return mine == nil ? .synced : .pendingUpload
  }

  /// Whether this version of the app can read it.
  var isReadable: Bool { (try? kind.check(fields, of: id)) != nil }

  /// The names of all its files.
  var mediaNames: [String] {
    [mine, cloud?.fields, dispute?.ancestor].compactMap { $0?[media: "mediaAsset"] }
  }

  /// Notes a version that is about to be sent.
  mutating func offer(_ fields: Fields) {
    guard offered?.last != fields else { return }
    offered = ((offered ?? []) + [fields]).suffix(4)
  }

  /// The version that this device's edits and the server's both came from.
  ///
  /// A field that the server has as this device sent it is no edit of another device, even if no
  /// answer was received: a later edit here came from there.
  func ancestor(of theirs: Fields) -> Fields? {
    let known = dispute.map(\.ancestor) ?? cloud?.fields
    guard let offered else { return known }
    return (known ?? [:]).merging(
      theirs.filter { field, value in offered.contains { $0[field] == value } }
    ) { _, sent in sent }
  }

  /// The item, or a version of it, for the app; `nil` if it is of another kind or can't be read.
  func view<View: FieldBacked>(_ type: View.Type = View.self, of fields: Fields? = nil) -> View? {
    guard kind == View.kind, var view = try? View(id: id, fields: fields ?? self.fields) else {
      return nil
    }
    view.syncStatus = status
    view.cloudKitRecordName = cloud == nil ? nil : id.uuidString
    return view
  }
}

/// The state of one zone's change feed.
struct ZoneState: Hashable, Sendable, Codable {
  /// The end of the last fetch; `nil` before the first.
  var token: Data?
  /// Whether the zone has changes that were not fetched.
  var isDirty = true
}

/// A share that this account is in.
struct ShareState: Hashable, Sendable, Codable {
  struct Person: Hashable, Sendable, Codable {
    var id: String
    var name: String
    var role: Int
    var permission: Int
    var acceptance: Int
  }

  var name: String
  /// The owner of its zone; `nil` for the account.
  var owner: String?
  var url: URL?
  /// The permission of this account, as CloudKit numbers it.
  var permission: Int
  var people: [Person]

  /// The key in the store's table.
  var key: String { Self.key(name, owner: owner) }

  static func key(_ name: String, owner: String?) -> String { (owner ?? "") + "/" + name }
}

/// What is stored besides items.
struct StoreSettings: Hashable, Sendable, Codable {
  /// The account that everything belongs to, by its user record's name; `nil` before the first.
  var owner: String?
  var lastSync: Date?
  /// Whether the zone exists, as far as is known.
  var hasZone = false
  /// Whether the zone was removed on purpose: then it is made again only for a new item.
  var wasZoneRemoved = false
  var hasSubscriptions = false
  /// The ends of the fetches of changed zones, by database.
  var databaseTokens: [String: Data] = [:]
  var strategy = ConflictStrategy.lastWriteWins
}
