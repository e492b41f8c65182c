public import CloudSync
public import Foundation

/// Where results live in the cloud.
public enum ResultRecord {
  /// The type of every record of this store.
  public static let recordType: CKRecord.RecordType = "GameResult"

  /// The store's own zone; only own zones keep a change feed.
  public static let zoneID = CKRecordZone.ID(zoneName: "UserDataZone")

  /// The ID of the record of the result `id`.
  public static func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zoneID)
  }
}

/// Why a record is no result; such a record is left alone.
public enum ResultRecordError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is of another type or in another zone.
  case isForeign
  /// Its name is no UUID.
  case hasNoID
  /// A field is missing.
  case lacks(field: String)
  /// A field is of another type, or its text has no meaning.
  case isUnreadable(field: String)

  /// One sentence for people, without any of the content.
  public var description: String {
    switch self {
    case .isForeign: "the record is no game result"
    case .hasNoID: "the record's name is no UUID"
    case .lacks(let field): "the record lacks the field \(field)"
    case .isUnreadable(let field): "the record's field \(field) can't be read"
    }
  }
}

extension GameResult {
  /// Copies the result onto a record; fields this version does not know stay as they are.
  public func copyFields(onto record: CKRecord) {
    record["gameID"] = gameId.uuidString
    record["gameName"] = gameName
    record["gameType"] = gameName.lowercased()
    record["date"] = date
    record["score"] = score
    record["maxAttempts"] = maxAttempts
    record["completed"] = completed ? 1 : 0
    record["sharedText"] = sharedText
    record["parsedData"] = parsedDataJSON
  }

  /// A new record with the result's fields.
  public func record() -> CKRecord {
    let record = CKRecord(
      recordType: ResultRecord.recordType, recordID: ResultRecord.recordID(id))
    copyFields(onto: record)
    return record
  }

  /// Reads a record of the cloud; `nil` when it is no result.
  public init?(from record: CKRecord) {
    try? self.init(reading: record)
  }

  /// Reads a record of the cloud.
  ///
  /// - Throws: `ResultRecordError` that names the field at fault.
  public init(reading record: CKRecord) throws(ResultRecordError) {
    guard record.recordType == ResultRecord.recordType,
      record.recordID.zoneID == ResultRecord.zoneID
    else { throw .isForeign }
    guard let id = UUID(uuidString: record.recordID.recordName) else { throw .hasNoID }
    let gameID: String = try Self.field("gameID", of: record)
    guard let gameID = UUID(uuidString: gameID) else { throw .isUnreadable(field: "gameID") }
    // Required as a sign of a whole record; the catalogue knows the game by its ID.
    let _: String = try Self.field("gameType", of: record)
    let completed: Int = try Self.field("completed", of: record)
    var score: Int?
    if record.object(forKey: "score") != nil { score = try Self.field("score", of: record) }
    var parsedData: [String: String] = [:]
    if record.object(forKey: "parsedData") != nil {
      let json: String = try Self.field("parsedData", of: record)
      do {
        parsedData = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
      } catch {
        throw .isUnreadable(field: "parsedData")
      }
    }
    self.init(
      id: id, gameId: gameID, gameName: try Self.field("gameName", of: record),
      date: try Self.field("date", of: record), score: score,
      maxAttempts: try Self.field("maxAttempts", of: record), completed: completed != 0,
      sharedText: try Self.field("sharedText", of: record), parsedData: parsedData)
  }

  /// The extra data as JSON with sorted keys, so that the same data is the same text.
  private var parsedDataJSON: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(parsedData) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  private static func field<Value>(
    _ key: String, of record: CKRecord
  ) throws(ResultRecordError) -> Value {
    guard let object = record.object(forKey: key) else { throw .lacks(field: key) }
    guard let value = object as? Value else { throw .isUnreadable(field: key) }
    return value
  }
}
