public import Foundation
public import SyncSupport

/// An item that this store syncs.
public protocol Syncable: Identifiable, Sendable where ID == UUID {
  /// The item's name on every device.
  var id: UUID { get }
  /// The date of the last edit, by the clock of the device where it was made.
  var updatedAt: Date { get }
  /// The name of its record; `nil` before the server has one, and the ID from then on.
  var cloudKitRecordName: String? { get set }
  /// The state of its sync.
  var syncStatus: SyncItemStatus { get set }

  /// A new record with all fields of the item, except files, in the account's own zone.
  ///
  /// - Throws: `SyncError.conversionFailed` if a field can't be sent.
  func toCKRecord() throws -> CKRecord

  /// Takes over the fields of a record; a field that the record lacks keeps its value.
  ///
  /// - Throws: `SyncError`; the item is as before then.
  mutating func update(from record: CKRecord) throws
}

/// The state of one item's sync.
public enum SyncItemStatus: String, Hashable, Sendable, Codable {
  /// The server has this version.
  case synced
  /// An edit waits to be sent.
  case pendingUpload
  /// It waits to be removed from the server permanently.
  case pendingDelete
  /// Two edits contradict each other, and the user has to decide.
  case conflict
  /// The server refuses it; ``AnnotationStore/refusals`` has the reason.
  case error
}

/// The reason why an item and a record don't fit together.
public enum SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The record is not one of this store's, or contradicts itself.
  case invalidRecord
  /// The record lacks a required field.
  case missingRequiredField(String)
  /// The item has a value that no record can have, such as a position that is not a number.
  case conversionFailed

  /// One sentence for people.
  public var description: String {
    switch self {
    case .invalidRecord: "Invalid CloudKit record"
    case .missingRequiredField(let field): "Missing required field: \(field)"
    case .conversionFailed: "Failed to convert record"
    }
  }
}

/// The fields of an item and the state of its sync.
public struct ItemContent: Hashable, Sendable {
  let id: UUID
  var fields: Fields
  var recordName: String?
  var status: SyncItemStatus
}

/// A ``Syncable`` item that is a view of its fields.
public protocol FieldBacked: Syncable, Hashable {
  /// The type of its records.
  static var recordType: CKRecord.RecordType { get }
  /// The fields, and the state of the sync.
  var item: ItemContent { get set }
  /// Shows fields.
  init(_ item: ItemContent)
}

extension FieldBacked {
  /// The item's name on every device.
  public var id: UUID { item.id }

  /// The user record's name of its author; empty before the first sync.
  public var ownerID: String { item.fields[text: "ownerID"] ?? "" }

  /// The date of its creation.
  public var createdAt: Date {
    item.fields[date: "createdAt"] ?? item.fields[date: "updatedAt"]
      ?? Date(timeIntervalSinceReferenceDate: 0)
  }

  /// The date of the last edit.
  public var updatedAt: Date { item.fields[date: "updatedAt"] ?? createdAt }

  /// Whether it is in the trash.
  public var isDeleted: Bool { item.fields.isDeleted }

  /// The name of its record; `nil` before the server has one.
  public var cloudKitRecordName: String? {
    get { item.recordName }
    set { item.recordName = newValue }
  }

  /// The state of its sync.
  public var syncStatus: SyncItemStatus {
    get { item.status }
    set { item.status = newValue }
  }

  /// A new record with all fields of the item, except files, in the account's own zone.
  public func toCKRecord() throws -> CKRecord {
    let recordID = CKRecord.ID(
      recordName: cloudKitRecordName ?? id.uuidString, zoneID: AnnotationZone.own)
    let record = CKRecord(recordType: Self.recordType, recordID: recordID)
    for (key, value) in item.fields {
      if case .number(let number) = value, !number.isFinite { throw SyncError.conversionFailed }
      record.set(value, forKey: key, media: nil)
    }
    return record
  }

  /// Takes over the fields of a record.
  public mutating func update(from record: CKRecord) throws {
    guard let kind = Self.kind, record.recordType == Self.recordType, record.itemID == id else {
      throw SyncError.invalidRecord
    }
    var fields = record.plainFields
    for group in kind.groups.values where group.contains(where: { fields[$0] == nil }) {
      for field in group { fields[field] = nil }
    }
    fields.merge(item.fields) { new, _ in new }
    try kind.check(fields, of: id)
    item = ItemContent(
      id: id, fields: fields, recordName: record.recordID.recordName, status: .synced)
  }

  static var kind: ItemKind? { ItemKind(rawValue: recordType) }

  /// Shows fields that were checked.
  init(id: UUID, fields: Fields) throws(SyncError) {
    try Self.kind?.check(fields, of: id)
    self.init(ItemContent(id: id, fields: fields, recordName: nil, status: .pendingUpload))
  }

  /// Makes a new item.
  init(new id: UUID, ownerID: String, createdAt: Date, parent: UUID? = nil) {
    var fields: Fields = [
      "id": .text(id.uuidString), "ownerID": .text(ownerID), "createdAt": .date(createdAt),
      "updatedAt": .date(createdAt), "isDeleted": .whole(0),
    ]
    if let field = Self.kind?.parent?.field { fields[link: field] = parent }
    self.init(ItemContent(id: id, fields: fields, recordName: nil, status: .pendingUpload))
  }
}
