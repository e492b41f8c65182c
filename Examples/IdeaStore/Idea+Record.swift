public import Foundation
public import SyncSupport

/// Where ideas live in the cloud.
public enum IdeaRecord {
  /// The type of every record of this store.
  public static let recordType: CKRecord.RecordType = "Idea"

  /// The default zone, which is there without being made, and has no change feed.
  public static let zoneID = CKRecordZone.ID.default

  /// The names of the fields.
  public enum Field: String, CaseIterable, Sendable {
    /// The idea's UUID; text.
    case id
    /// Its title; text.
    case title
    /// What there is to say about it; text, may be absent.
    case description
    /// 0 or 1.
    case isCompleted
    /// When it was made; a date.
    case createdAt
    /// When it was last changed; a date.
    case updatedAt
    /// Which device changed it; text.
    case deviceId
    /// How often it was changed; a number from 0.
    case version
    /// When a device last saved it; a date, may be absent.
    case lastSyncedAt
  }

  /// The ID of the record of the idea `id`.
  public static func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zoneID)
  }

  /// A record as bytes, with its tag; other fields than those of this version are in it too, so
  /// that they survive when the record has to be made anew.
  static func archive(_ record: CKRecord) -> Data {
    let known = Set(Field.allCases.map(\.rawValue))
    return record.allKeys().allSatisfy(known.contains) ? record.systemFields : record.allFields
  }
}

extension Idea {
  /// Copies the idea onto a record; fields this version does not know stay as they are.
  ///
  /// - Parameter moment: when it is saved.
  public func copyFields(onto record: CKRecord, syncedAt moment: Date) {
    record["id"] = id.uuidString
    record["title"] = title
    record["description"] = description
    record["isCompleted"] = Int64(isCompleted ? 1 : 0)
    record["createdAt"] = createdAt
    record["updatedAt"] = updatedAt
    record["deviceId"] = deviceId
    record["version"] = Int64(version)
    record["lastSyncedAt"] = moment.roundedToMilliseconds
  }

  /// Reads a record of the cloud.
  ///
  /// What an older version of the app may not have written has a default: no description, not
  /// completed, version 0, the record's own dates, an unknown device. The title has none.
  /// - Throws: the first rule that is broken; such a record is left alone.
  public init(reading record: CKRecord) throws(IdeaError) {
    guard record.recordType == IdeaRecord.recordType, record.recordID.zoneID == IdeaRecord.zoneID
    else { throw .isForeign }
    let name = record.recordID.recordName
    let text: String = try Self.field(.id, of: record) ?? name
    guard let id = UUID(uuidString: text) else { throw .idIsNoUUID }
    guard id.uuidString == name else { throw .nameIsNotID }
    guard let title: String = try Self.field(.title, of: record) else {
      throw .lacks(field: IdeaRecord.Field.title.rawValue)
    }
    let completion: Int64 = try Self.field(.isCompleted, of: record) ?? 0
    guard completion == 0 || completion == 1 else { throw .isCompletedIsNotZeroOrOne }
    let version: Int64 = try Self.field(.version, of: record) ?? 0
    let epoch = Date(timeIntervalSince1970: 0)
    let created: Date =
      try Self.field(.createdAt, of: record) ?? record.creationDate ?? epoch
    let updated: Date =
      try Self.field(.updatedAt, of: record) ?? max(record.modificationDate ?? created, created)
    self.init(
      id: id, title: title, description: try Self.field(.description, of: record) ?? "",
      isCompleted: completion == 1, createdAt: created, updatedAt: updated,
      deviceId: try Self.field(.deviceId, of: record) ?? "unknown", version: Int(version))
    let _: Date? = try Self.field(.lastSyncedAt, of: record)
    try validate()
  }

  private static func field<Value>(
    _ field: IdeaRecord.Field, of record: CKRecord
  ) throws(IdeaError) -> Value? {
    guard let object = record.object(forKey: field.rawValue) else { return nil }
    guard let value = object as? Value else { throw .isUnreadable(field: field.rawValue) }
    return value
  }
}
