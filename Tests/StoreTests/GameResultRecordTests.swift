import CloudSync
import Foundation
import GameResultStore
import Testing

@Suite("Game results as records")
struct GameResultRecordTests {
  static let solved = GameResult(
    id: UUID(), gameId: Game.wordle.id, gameName: "Wordle",
    date: Date(timeIntervalSince1970: 1_793_707_200.123456), score: 4, maxAttempts: 6,
    completed: true, sharedText: "Wordle 1,963 4/6\n\n⬛️🟩 \"x\"",
    parsedData: ["b": "2", "a": "1/\"x\"", "grid": "G\n."])
  static let failed = GameResult(
    id: UUID(), gameId: UUID(), gameName: "Mini Crossword", date: Date(timeIntervalSince1970: 0),
    score: nil, maxAttempts: 0, completed: false, sharedText: "")

  @Test(
    "G: Each result makes a round trip as one record in UserDataZone, named by its ID",
    arguments: [solved, failed])
  func resultRecordRoundTripsByID(_ result: GameResult) throws {
    let record = result.record()
    #expect(try GameResult(reading: record) == result)
    #expect(GameResult(record) == result)
    var fields = [
      "completed", "date", "gameID", "gameName", "gameType", "maxAttempts", "parsedData",
      "sharedText",
    ]
    // A score that is absent stays absent: no zero, no empty text.
    if result.score != nil { fields = (fields + ["score"]).sorted() }
    #expect(record.allKeys() == fields)
    #expect(record.recordID.recordName == result.id.uuidString)
    #expect(record.recordID.zoneID.zoneName == "UserDataZone")
  }

  @Test("G: The record has the nine fields and types that the plan specifies")
  func resultRecordHasNineFields() {
    let record = Self.solved.record()
    #expect(record.recordType == "GameResult")
    #expect(record["gameID"] as? String == Game.wordle.id.uuidString)
    #expect(record["gameType"] as? String == "wordle")
    #expect(record["completed"] as? Int == 1)
    #expect(record["score"] as? Int == 4 && record["maxAttempts"] as? Int == 6)
    #expect(
      record["parsedData"] as? String == #"{"a":"1/\"x\"","b":"2","grid":"G\n."}"#)
    // A score taken away from a record of an earlier version goes.
    Self.failed.copy(to: record)
    #expect(record.object(forKey: "score") == nil)
  }

  @Test("G: A missing field has its documented default, the same on every device")
  func missingResultFieldsGetDefaults() throws {
    let good = Self.solved
    let epoch = Date(timeIntervalSinceReferenceDate: 0)
    let cases: [([String], (GameResult) -> Bool)] = [
      (["gameID"], { $0.gameId == Game.wordle.id && $0.gameName == "Wordle" }),
      (["gameID", "gameName"], { $0.gameId == Game.wordle.id && $0.gameName == "Wordle" }),
      (["gameName"], { $0.gameName == "Wordle" }),
      (["gameType"], { $0 == good }),
      (["date"], { $0.date == epoch }),
      (["score"], { $0.score == nil && $0.completed }),
      (["maxAttempts"], { $0.maxAttempts == 6 }),
      (["completed"], { $0 == good }),
      (["completed", "score"], { !$0.completed }),
      (["sharedText"], { $0.sharedText.isEmpty && $0.score == 4 }),
      (["parsedData"], { $0.parsedData.isEmpty && $0.score == 4 }),
    ]
    for (fields, isRight) in cases {
      let record = good.record()
      for field in fields { record.setObject(nil, forKey: field) }
      #expect(isRight(try GameResult(reading: record)), "\(fields)")
    }
    let unknown = Self.failed.record()
    for field in ["gameName", "maxAttempts"] { unknown.setObject(nil, forKey: field) }
    #expect(try GameResult(reading: unknown).gameName == "mini crossword")
    unknown.setObject(nil, forKey: "gameType")
    #expect(try GameResult(reading: unknown).gameName == "Unknown game")
  }

  @Test("G: An invalid result record is refused with the name of the field at fault")
  func invalidResultRecordNamesField() {
    let broken: [(String, any CKRecordValueProtocol, ResultRecordError)] = [
      ("gameID", "x", .isUnreadable(field: "gameID")),
      ("gameID", 7, .isUnreadable(field: "gameID")),
      ("gameName", 7, .isUnreadable(field: "gameName")),
      ("gameType", 7, .isUnreadable(field: "gameType")),
      ("date", "today", .isUnreadable(field: "date")),
      ("score", "4", .isUnreadable(field: "score")),
      ("score", 4.5, .isUnreadable(field: "score")),
      ("maxAttempts", "6", .isUnreadable(field: "maxAttempts")),
      ("completed", "yes", .isUnreadable(field: "completed")),
      ("sharedText", Data([1]), .isUnreadable(field: "sharedText")),
      ("parsedData", "{", .isUnreadable(field: "parsedData")),
      ("parsedData", #"{"a":1}"#, .isUnreadable(field: "parsedData")),
      ("parsedData", "", .isUnreadable(field: "parsedData")),
    ]
    for (field, value, error) in broken {
      let record = Self.solved.record()
      record.setObject(value, forKey: field)
      #expect(throws: error, "\(field)") { try GameResult(reading: record) }
    }
    let unnamed = Self.solved.record()
    for field in ["gameID", "gameName", "gameType"] { unnamed.setObject(nil, forKey: field) }
    #expect(throws: ResultRecordError.lacks(field: "gameID")) { try GameResult(reading: unnamed) }
    for version in [2 as Int64, 99] {
      let newer = Self.solved.record()
      newer["schemaVersion"] = version
      #expect(throws: ResultRecordError.isNewer) { try GameResult(reading: newer) }
    }
    let foreign = [
      CKRecord(recordType: "Other", recordID: Self.solved.record().recordID),
      CKRecord(recordType: "GameResult", recordID: CKRecord.ID(recordName: UUID().uuidString)),
    ]
    for record in foreign {
      #expect(throws: ResultRecordError.isForeign) { try GameResult(reading: record) }
    }
    let nameless = CKRecord(
      recordType: "GameResult",
      recordID: CKRecord.ID(recordName: "x", zoneID: ResultRecord.zoneID))
    #expect(throws: ResultRecordError.hasNoID) { try GameResult(reading: nameless) }
  }
}
