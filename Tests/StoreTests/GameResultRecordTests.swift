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

  @Test("A result survives the way through a record", arguments: [solved, failed])
  func roundTrip(_ result: GameResult) throws {
    let record = result.record()
    #expect(try GameResult(reading: record) == result)
    #expect(GameResult(from: record) == result)
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

  @Test("The record has the fields and types the plan names")
  func form() {
    let record = Self.solved.record()
    #expect(record.recordType == "GameResult")
    #expect(record["gameID"] as? String == Game.wordle.id.uuidString)
    #expect(record["gameType"] as? String == "wordle")
    #expect(record["completed"] as? Int == 1)
    #expect(record["score"] as? Int == 4 && record["maxAttempts"] as? Int == 6)
    #expect(
      record["parsedData"] as? String == #"{"a":"1/\"x\"","b":"2","grid":"G\n."}"#)
    // A score taken away from a record of an earlier version goes.
    Self.failed.copyFields(onto: record)
    #expect(record.object(forKey: "score") == nil)
  }

  @Test("What is no result is refused by the field at fault")
  func refusals() {
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
    for field in Self.solved.record().allKeys() {
      let record = Self.solved.record()
      record.setObject(nil, forKey: field)
      let isOptional = ["score", "parsedData"].contains(field)
      #expect((GameResult(from: record) != nil) == isOptional, "\(field)")
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
