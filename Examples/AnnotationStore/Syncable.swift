public import CloudSync
public import Foundation

/// What every item answers to that this store keeps in step with the cloud.
public protocol Syncable: Identifiable, Sendable where ID == UUID {
  /// The item's name on every device.
  var id: UUID { get }
  /// When a person changed it last, by the clock of the device where that happened.
  var updatedAt: Date { get }
  /// The name of its record; `nil` before the cloud has one, which is the ID from then on.
  var cloudKitRecordName: String? { get set }
  /// Where it stands.
  var syncStatus: SyncItemStatus { get set }

  /// A new record with all fields of the item, in the account's own zone.
  ///
  /// - Throws: `SyncError.conversionFailed` when a field can't be sent.
  func toCKRecord() throws -> CKRecord

  /// Takes over what a record says; a field the record lacks keeps its value.
  ///
  /// - Throws: `SyncError`; the item is as before then.
  mutating func update(from record: CKRecord) throws
}

/// Where one item stands.
public enum SyncItemStatus: String, Hashable, Sendable, Codable {
  /// The cloud has this very version.
  case synced
  /// An edit waits to be sent.
  case pendingUpload
  /// It waits to be removed from the cloud for good.
  case pendingDelete
  /// Two edits contradict each other, and a person has to decide.
  case conflict
  /// The cloud refuses it; ``AnnotationStore/refusals`` says why.
  case error
}

/// Why an item and a record don't fit together.
public enum SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The record is not one of this store's, or says two different things.
  case invalidRecord
  /// The record lacks a field without which it means nothing.
  case missingRequiredField(String)
  /// The item holds what no record can, such as a position that is no number.
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

/// A `Syncable` that is a view of fields; gives it the two conversions.
protocol FieldBacked: Syncable {
  static var kind: ItemKind { get }
  /// The fields as they would be sent.
  var fields: Fields { get }
  /// Takes over the fields that are there.
  mutating func take(_ fields: Fields) throws(SyncError)
}

extension FieldBacked {
  /// A new record with all fields of the item, in the account's own zone.
  ///
  /// A file is not part of it: where it lies is the store's knowledge.
  public func toCKRecord() throws -> CKRecord {
    let recordID = CKRecord.ID(
      recordName: cloudKitRecordName ?? id.uuidString, zoneID: AnnotationZone.own)
    let record = CKRecord(recordType: Self.kind.recordType, recordID: recordID)
    for (key, value) in fields {
      if case .number(let number) = value, !number.isFinite { throw SyncError.conversionFailed }
      record.set(value, forKey: key, media: nil)
    }
    return record
  }

  /// Takes over what a record says.
  public mutating func update(from record: CKRecord) throws {
    guard record.recordType == Self.kind.recordType, let recordID = record.itemID, recordID == id
    else { throw SyncError.invalidRecord }
    var fields = record.plainFields
    if fields["id"] == nil { fields["id"] = .text(recordID.uuidString) }
    var changed = self
    try changed.take(fields)
    changed.cloudKitRecordName = record.recordID.recordName
    changed.syncStatus = .synced
    self = changed
  }
}
