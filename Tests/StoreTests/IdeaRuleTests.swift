import CloudSync
import Foundation
import Testing

@testable import IdeaStore

@Suite("The rules of an idea")
struct IdeaRuleTests {
  static let noon = Date(timeIntervalSince1970: SetClock.noon)

  static func idea(
    _ title: String = "t", _ description: String = "", updated: Double = 0, device: String = "a",
    version: Int = 0, done: Bool = false
  ) -> Idea {
    Idea(
      id: UUID.numbered(1), title: title, description: description, isCompleted: done,
      createdAt: noon, updatedAt: noon.addingTimeInterval(updated), deviceId: device,
      version: version)
  }

  @Test("I: Every rule has a clear error, and its limit is allowed")
  func everyRuleHasErrorAndLimit() {
    let family = "👨‍👩‍👧‍👦"
    let table: [(Idea, IdeaError?)] = [
      (Self.idea(), nil),
      (Self.idea(""), .titleIsEmpty),
      (Self.idea(String(repeating: "想", count: 256)), nil),
      (Self.idea(String(repeating: family, count: 256)), nil),
      (Self.idea(String(repeating: "想", count: 257)), .titleIsTooLong(count: 257)),
      (Self.idea("t", String(repeating: "x", count: 4_096)), nil),
      (
        Self.idea("t", String(repeating: "x", count: 4_097)),
        .descriptionIsTooLong(count: 4_097)
      ),
      (Self.idea(updated: -0.001), .updatedBeforeCreated),
      (Self.idea(updated: .nan), .dateIsInvalid(field: "updatedAt")),
      (Self.idea(updated: 1e12), .dateIsInvalid(field: "updatedAt")),
      (Self.idea(device: ""), .deviceIdIsEmpty),
      (Self.idea(version: -1), .versionIsNegative),
      (Self.idea(version: .max), nil),
    ]
    for (number, (idea, wanted)) in table.enumerated() {
      var found: IdeaError?
      do throws(IdeaError) { try idea.validate() } catch { found = error }
      #expect(found == wanted, "row \(number)")
      #expect(found?.description.isEmpty != true)
    }
  }

  static func record(_ change: (CKRecord) -> Void = { _ in }) -> CKRecord {
    let record = CKRecord(
      recordType: "Idea", recordID: IdeaRecord.recordID(UUID.numbered(1)))
    idea("標題", "d", updated: 0.001, version: 3, done: true)
      .copyFields(onto: record, syncedAt: noon)
    change(record)
    return record
  }

  @Test("I: Records from the cloud follow the same rules, and missing fields have defaults")
  func fetchedRecordsFollowSameRules() throws {
    let whole = try Idea(reading: Self.record())
    #expect(whole == Self.idea("標題", "d", updated: 0.001, version: 3, done: true))
    let bad: [(String, (any CKRecordValueProtocol)?, IdeaError)] = [
      ("id", "no uuid", .idIsNoUUID), ("id", "", .idIsNoUUID),
      ("id", UUID.numbered(2).uuidString, .nameIsNotID), ("id", 7, .isUnreadable(field: "id")),
      ("title", nil, .lacks(field: "title")), ("title", "", .titleIsEmpty),
      ("title", 5, .isUnreadable(field: "title")),
      ("description", [1, 2], .isUnreadable(field: "description")),
      ("isCompleted", 2, .isCompletedIsNotZeroOrOne),
      ("isCompleted", -1, .isCompletedIsNotZeroOrOne),
      ("isCompleted", "yes", .isUnreadable(field: "isCompleted")),
      ("createdAt", "now", .isUnreadable(field: "createdAt")),
      ("createdAt", Self.noon.addingTimeInterval(1), .updatedBeforeCreated),
      ("updatedAt", Self.noon.addingTimeInterval(-1), .updatedBeforeCreated),
      ("deviceId", "", .deviceIdIsEmpty), ("version", -1, .versionIsNegative),
      ("version", 1.5, .isUnreadable(field: "version")),
      ("lastSyncedAt", "x", .isUnreadable(field: "lastSyncedAt")),
    ]
    for (key, value, wanted) in bad {
      #expect(throws: wanted, "\(key)") {
        try Idea(reading: Self.record { $0.setObject(value, forKey: key) })
      }
    }
    let keys = ["description", "isCompleted", "deviceId", "version", "id", "lastSyncedAt"]
    let bare = try Idea(
      reading: Self.record { for key in keys { $0.setObject(nil, forKey: key) } })
    #expect(bare.description.isEmpty && !bare.isCompleted && bare.version == 0)
    #expect(bare.id == UUID.numbered(1) && bare.deviceId == "unknown")
    let other = CKRecord(recordType: "Note", recordID: IdeaRecord.recordID(UUID.numbered(1)))
    #expect(throws: IdeaError.isForeign) { try Idea(reading: other) }
  }

  @Test("I: The later change wins; version, device and content break ties, the same both ways")
  func laterChangeWinsWithFixedTieBreaks() {
    let ladder = [
      Self.idea(updated: 0, device: "z", version: 9, done: true),
      Self.idea("y", updated: 0.050, device: "a", version: 1),
      Self.idea("x", updated: 0.050, device: "b", version: 1),
      Self.idea("x", "more", updated: 0.050, device: "b", version: 1),
      Self.idea("x", "more", updated: 0.050, device: "b", version: 1, done: true),
      Self.idea("e\u{301}", updated: 0.050, device: "b", version: 2),
      // The same to a reader, other bytes: still one order.
      Self.idea("\u{E9}", updated: 0.050, device: "b", version: 2),
      Self.idea("a", updated: 0.100, device: "a", version: 0),
    ]
    for (low, first) in ladder.enumerated() {
      #expect(!first.wins(over: first))
      for (high, second) in ladder.enumerated() where high > low {
        #expect(second.wins(over: first) && !first.wins(over: second), "\(low) \(high)")
      }
    }
  }

  /// A record of the idea, as the cloud hands it out with the tag `tag`.
  static func cloud(_ idea: Idea) -> CKRecord {
    let record = CKRecord(recordType: "Idea", recordID: IdeaRecord.recordID(idea.id))
    idea.copyFields(onto: record, syncedAt: noon)
    return record
  }

  @Test("I: Each fetched change has its defined effect for every local state")
  func fetchedChangesApplyToEveryLocalState() {
    let older = Self.idea("older", updated: 1)
    let mine = Self.idea("mine", updated: 2)
    let newer = Self.idea("newer", updated: 3)
    func row(_ idea: Idea?, pending: Bool, deleted: Double? = nil, here: Bool = false) -> IdeaRow {
      var row = IdeaRow(name: UUID.numbered(1).uuidString)
      row.idea = idea
      row.isPending = pending
      row.deletedAt = deleted.map { Self.noon.addingTimeInterval($0) }
      row.isDeletedHere = here
      row.tag = "known"
      return row
    }
    let table: [(String, IdeaRow?, Idea?, IdeaShelf.Outcome, String?, Bool)] = [
      ("nothing, a record", nil, mine, .took, "mine", false),
      ("nothing, a deletion", nil, nil, .known, nil, false),
      ("clean, later", row(mine, pending: false), newer, .took, "newer", false),
      ("clean, earlier", row(mine, pending: false), older, .localWon, "mine", true),
      ("clean, the same", row(mine, pending: false), mine, .took, "mine", false),
      ("clean, deleted", row(mine, pending: false), nil, .removed, nil, false),
      ("edited, later", row(mine, pending: true), newer, .cloudWon, "newer", false),
      ("edited, earlier", row(mine, pending: true), older, .localWon, "mine", true),
      ("edited, the same", row(mine, pending: true), mine, .took, "mine", false),
      ("edited, deleted", row(mine, pending: true), nil, .survived, "mine", true),
      (
        "deleted here at 2, changed before", row(older, pending: true, deleted: 2, here: true),
        mine,
        .localWon, nil, true
      ),
      (
        "deleted here at 2, changed after", row(older, pending: true, deleted: 2, here: true),
        newer,
        .cloudWon, "newer", false
      ),
      (
        "deleted here and confirmed, an earlier change comes back",
        row(older, pending: false, deleted: 2, here: true), mine, .localWon, nil, true
      ),
      (
        "deleted elsewhere, made anew", row(mine, pending: false, deleted: 9), older, .took,
        "older", false
      ),
      (
        "deleted here, deleted there", row(mine, pending: true, deleted: 2, here: true), nil,
        .removed, nil, false
      ),
    ]
    for (name, row, remote, outcome, title, pending) in table {
      var shelf = IdeaShelf()
      if let row { shelf.put(row) }
      let found =
        remote.map { shelf.take(Self.cloud($0), at: Self.noon) }
        ?? shelf.takeDeletion(of: UUID.numbered(1).uuidString, at: Self.noon)
      let left = shelf[UUID.numbered(1).uuidString]
      #expect(found == outcome, "\(name)")
      #expect((left?.isVisible == true ? left?.idea?.title : nil) == title, "\(name)")
      #expect((left?.isPending ?? false) == pending, "\(name)")
    }
  }

  @Test("I: The error table has a rule for each code, and the six of the design have their message")
  func everyErrorCodeHasRule() {
    for code in CKError.Code.allCases {
      let rule = IdeaErrorRule.rule(for: code)
      if let message = rule.message { #expect(message.hasSuffix("."), "\(code)") }
    }
    let table: [(CKError.Code, IdeaErrorRule.Handling, String?)] = [
      (.notAuthenticated, .workOffline, "Sign in"), (.networkFailure, .retry, "No network"),
      (.serverRecordChanged, .resolve, nil), (.quotaExceeded, .askForSpace, "storage is full"),
      (.internalError, .retry, "has a problem"), (.zoneBusy, .waitAMinute, "busy"),
    ]
    for (code, handling, words) in table {
      let rule = IdeaErrorRule.rule(for: code)
      #expect(rule.handling == handling, "\(code)")
      #expect(words.map { rule.message?.contains($0) == true } ?? (rule.message == nil), "\(code)")
    }
  }
}
