import CloudSync
import Foundation
import SyncSupport

/// The version of an item that the cloud has, as far as this device heard: the ancestor of whatever
/// is edited here next.
struct CloudCopy: Hashable, Sendable, Codable {
  var fields: Fields
  /// The record's tag; `nil` when the fields may be older than the cloud's.
  var tag: String?
  /// The record without its fields, to save the next version with.
  var system: Data
  /// The name of the share the record is in.
  var share: String?
}

/// Two edits that a person has to decide between.
struct Dispute: Hashable, Sendable, Codable {
  /// The version both edits came from; `nil` when nobody knows it.
  var ancestor: Fields?
  /// What both changed, by name.
  var fields: [String]
  /// When this device found out.
  var since: Date
  /// Whether the other edit is that the item was removed for good.
  var isGoneThere = false
}

/// Why the cloud refuses an item.
struct Refusal: Hashable, Sendable, Codable {
  /// The number of the CloudKit error.
  var code: Int
  /// What happened and what to do, without content.
  var message: String
}

/// One item as this device keeps it: the cloud's version, and this device's where that differs.
struct StoredItem: Hashable, Sendable, Codable {
  var id: UUID
  var kind: ItemKind
  /// Whose zone it is in; `nil` for the account's own.
  var owner: String?
  /// What the cloud has; `nil` when it has nothing.
  var cloud: CloudCopy?
  /// What this device has; `nil` when that is what the cloud has.
  var mine: Fields?
  /// What was sent of it and not answered, the newest last: the cloud may have any of them.
  var offered: [Fields]?
  /// Whether it waits to be removed from the cloud for good; nobody sees it any more.
  var isPurged = false
  /// A contradiction that a person has to decide; nothing is sent before.
  var dispute: Dispute?
  /// Why the cloud does not take it.
  var refusal: Refusal?

  /// Notes what is about to be sent.
  ///
  /// - Returns: whether that is not noted yet.
  mutating func offer(_ fields: Fields) -> Bool {
    guard offered?.last != fields else { return false }
    offered = ((offered ?? []) + [fields]).suffix(4)
    return true
  }

  /// The version that this device's edits and the cloud's both came from.
  ///
  /// A field that the cloud has as this device sent it is nobody else's edit, even if no answer
  /// ever said so: a later edit here came from there.
  func ancestor(of theirs: Fields) -> Fields? {
    let known = dispute.map(\.ancestor) ?? cloud?.fields
    guard let offered else { return known }
    var ancestor = known ?? [:]
    for (field, value) in theirs where offered.contains(where: { $0[field] == value }) {
      ancestor[field] = value
    }
    return ancestor
  }

  /// The fields as this device has them.
  var fields: Fields { mine ?? cloud?.fields ?? [:] }

  /// The parent's ID; `nil` for what has none.
  var parent: UUID? { kind.parentField.flatMap { fields.link($0) } }

  /// The item's record.
  var recordID: CKRecord.ID { AnnotationZone.recordID(id, owner: owner) }

  /// Where the item stands.
  var status: SyncItemStatus {
    if isPurged { return .pendingDelete }
    if dispute != nil { return .conflict }
    if refusal != nil { return .error }
    return mine == nil ? .synced : .pendingUpload
  }

  /// Whether this version of the program can make sense of it.
  var isReadable: Bool {
    switch kind {
    case .layer: layer != nil
    case .annotation: annotation(media: nil) != nil
    case .comment: comment != nil
    }
  }

  /// The names of all files it needs.
  var mediaNames: [String] {
    [mine, cloud?.fields, dispute?.ancestor].compactMap { $0?.media("mediaAsset") }
  }

  /// The item as a layer; `nil` when it is none, or makes no sense here.
  var layer: Layer? {
    guard kind == .layer, var layer = try? Layer(id: id, fields: fields) else { return nil }
    layer.syncStatus = status
    layer.cloudKitRecordName = cloud == nil ? nil : id.uuidString
    return layer
  }

  /// The item as an annotation, with the place of its file; `nil` when it is none, or makes no
  /// sense here.
  func annotation(media: MediaFolder?) -> Annotation? {
    annotation(of: fields, media: media)
  }

  /// Some version of the item as an annotation.
  func annotation(of fields: Fields, media: MediaFolder?) -> Annotation? {
    guard kind == .annotation, var annotation = try? Annotation(id: id, fields: fields) else {
      return nil
    }
    annotation.syncStatus = status
    annotation.cloudKitRecordName = cloud == nil ? nil : id.uuidString
    if let name = annotation.mediaName, let media, media.has(name) {
      annotation.content.mediaURL = media.url(name)
    }
    return annotation
  }

  /// The item as a comment; `nil` when it is none, or makes no sense here.
  var comment: Comment? {
    guard kind == .comment, var comment = try? Comment(id: id, fields: fields) else { return nil }
    comment.syncStatus = status
    comment.cloudKitRecordName = cloud == nil ? nil : id.uuidString
    return comment
  }
}

/// What is known of one zone's feed.
struct ZoneState: Hashable, Sendable, Codable {
  /// Where the last fetch ended; `nil` before the first.
  var token: Data?
  /// Whether the cloud said that there is news.
  var isDirty = true
}

/// A share that this account is in.
struct ShareState: Hashable, Sendable, Codable {
  struct Person: Hashable, Sendable, Codable {
    var id: String
    var user: String?
    var name: String
    var role: Int
    var permission: Int
    var acceptance: Int
  }

  /// Its record's name.
  var name: String
  /// Whose zone it is in; `nil` for the account's own.
  var owner: String?
  var url: URL?
  /// What this account may do, as CloudKit numbers it.
  var permission: Int
  /// What everyone who knows the URL may do.
  var publicPermission: Int
  var people: [Person]

  /// The key in the store's table.
  var key: String { Self.key(name, owner: owner) }

  static func key(_ name: String, owner: String?) -> String { (owner ?? "") + "/" + name }
}

/// What is to be remembered besides items.
struct StoreSettings: Hashable, Sendable, Codable {
  /// The account everything belongs to, by its user record's name; `nil` while nobody's.
  var owner: String?
  /// When the last sync of this account succeeded.
  var lastSync: Date?
  /// Whether the zone is there, as far as is known.
  var hasZone = false
  /// Whether somebody removed the zone on purpose: then it comes back only with a new item.
  var wasZoneRemoved = false
  /// Whether the subscriptions are there.
  var hasSubscriptions = false
  /// Where the fetch of changed zones ended, by database.
  var databaseTokens: [String: Data] = [:]
  /// What decides about conflicts.
  var strategy = ConflictStrategy.lastWriteWins
}

/// One line's worth of change in the journal.
enum StoreChange: Hashable, Sendable, Codable {
  /// An item, with the note that it waits to be sent: one write for both.
  case item(StoredItem, OfflineQueue.Entry?)
  case removed(UUID)
  case zone(String, ZoneState?)
  case share(String, ShareState?)
  case settings(StoreSettings)
}
