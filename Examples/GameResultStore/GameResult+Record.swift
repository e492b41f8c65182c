public import Foundation
public import ShareTexts
import SyncSupport
public import SyncedStore

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

/// Why a record is no result that can be shown; such a record is left alone and kept.
public enum ResultRecordError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is of another type or in another zone.
  case isForeign
  /// Its name is no UUID.
  case hasNoID
  /// A field is missing.
  case lacks(field: String)
  /// A newer version of the app wrote it.
  case isNewer
  /// A field is of another type, or its text has no meaning.
  case isUnreadable(field: String)

  /// One sentence for people, without any of the content.
  public var description: String {
    switch self {
    case .isForeign: "the record is not a game result"
    case .hasNoID: "the record's name is not a UUID"
    case .isNewer: "the record is of a newer version"
    case .lacks(let field): "the record lacks the field \(field)"
    case .isUnreadable(let field): "the record's field \(field) can't be read"
    }
  }
}

extension GameResult: SyncedItem {
  /// The type of the results' records.
  public static var recordType: CKRecord.RecordType { ResultRecord.recordType }

  /// Copies the result onto a record; fields that this version does not know stay unchanged.
  public func copy(to record: CKRecord) {
    record["gameID"] = gameId.uuidString
    record["gameName"] = gameName
    record["gameType"] = gameName.lowercased()
    record["date"] = date
    record["score"] = score
    record["maxAttempts"] = maxAttempts
    record["completed"] = completed ? 1 : 0
    record["sharedText"] = sharedText
    record["parsedData"] = parsedData.canonicalText
  }

  /// A new record with the result's fields.
  public func record() -> CKRecord {
    let record = CKRecord(
      recordType: ResultRecord.recordType, recordID: ResultRecord.recordID(id))
    copy(to: record)
    return record
  }

  /// Reads a record from the server; `nil` if it is not a result that this version can read.
  public init?(_ record: CKRecord) { try? self.init(reading: record) }

  /// The reason why a kept record can't be read.
  static func problem(of record: CKRecord?) -> ResultRecordError {
    guard let record else { return .isForeign }
    do throws(ResultRecordError) {
      _ = try GameResult(reading: record)
      return .isForeign
    } catch { return error }
  }

  /// Reads a record of the cloud.
  ///
  /// A missing field has its default, which is the same on every device: what the catalogue says of
  /// the game, the moment the cloud saw the record last, an empty text, no extra data, and solved
  /// when there is a score. Only the game itself has to be told, by its ID or by its name.
  /// - Throws: `ResultRecordError` that names the field at fault.
  public init(reading record: CKRecord) throws(ResultRecordError) {
    guard record.recordType == ResultRecord.recordType,
      record.recordID.zoneID == ResultRecord.zoneID
    else { throw .isForeign }
    guard record.schemaVersion <= 1 else { throw .isNewer }
    guard let id = UUID(uuidString: record.recordID.recordName) else { throw .hasNoID }
    let name: String? = try Self.field("gameName", of: record)
    let type: String? = try Self.field("gameType", of: record)
    let gameID = try Self.gameID(of: record, name: name ?? type)
    let game = Game.with(id: gameID)
    let score: Int? = try Self.field("score", of: record)
    let completed: Int? = try Self.field("completed", of: record)
    let parsedData: String? = try Self.field("parsedData", of: record)
    self.init(
      id: id, gameId: gameID, gameName: name ?? game?.name ?? type ?? "Unknown game",
      date: try Self.field("date", of: record) ?? record.dateInCloud, score: score,
      maxAttempts: try Self.field("maxAttempts", of: record) ?? game?.maxAttempts ?? 0,
      completed: completed.map { $0 != 0 } ?? (score != nil),
      sharedText: try Self.field("sharedText", of: record) ?? "",
      parsedData: try parsedData.map(Self.data(from:)) ?? [:])
  }

  /// The order of results: newest first; at the same moment by ID, so that every device agrees.
  static func isNewer(_ first: GameResult, _ second: GameResult) -> Bool {
    first.date == second.date
      ? first.id.precedes(second.id) : first.date > second.date
  }

  private static func gameID(
    of record: CKRecord, name: String?
  ) throws(ResultRecordError) -> UUID {
    let text: String? = try field("gameID", of: record)
    guard let text else {
      guard let game = name.flatMap(Game.named) else { throw .lacks(field: "gameID") }
      return game.id
    }
    guard let id = UUID(uuidString: text) else { throw .isUnreadable(field: "gameID") }
    return id
  }

  private static func data(from json: String) throws(ResultRecordError) -> [String: String] {
    guard let data = try? JSONDecoder().decode([String: String].self, from: Data(json.utf8)) else {
      throw .isUnreadable(field: "parsedData")
    }
    return data
  }

  private static func field<Value>(
    _ key: String, of record: CKRecord
  ) throws(ResultRecordError) -> Value? {
    guard let object = record.object(forKey: key) else { return nil }
    guard let value = object as? Value else { throw .isUnreadable(field: key) }
    return value
  }
}
