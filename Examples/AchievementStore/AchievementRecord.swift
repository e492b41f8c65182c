public import Foundation
public import SyncedStore

/// The record of the achievements.
///
/// Rules: the rows A in Docs/Stores.md.
public enum AchievementRecord {
  /// The type of the record.
  public static let recordType: CKRecord.RecordType = "UserAchievements"
  /// The record's name; each account has one such record.
  public static let recordName = "user_achievements"
  /// The store's own zone; only own zones keep a change feed.
  public static let zoneID = CKRecordZone.ID(zoneName: "AchievementsZone")
  /// The record's ID.
  public static let recordID = CKRecord.ID(recordName: recordName, zoneID: zoneID)
  /// The newest version of the record that this build reads, and the one that it writes.
  public static let version = 1

  static func version(of record: CKRecord) -> Int {
    Int(clamping: record["version"] as? Int64 ?? 1)
  }

  /// The counts as a keyed archive of a dictionary.
  public static func archived(_ summary: [String: Int]) -> Data {
    (try? NSKeyedArchiver.archivedData(withRootObject: summary, requiringSecureCoding: true))
      ?? Data()
  }
}

extension AchievementSet: SyncedItem {
  static let recordType = AchievementRecord.recordType

  var recordName: String { AchievementRecord.recordName }

  /// Reads a record of version 1; missing fields get their defaults.
  init?(_ record: CKRecord) {
    self.init(record, version: AchievementRecord.version)
  }

  /// Reads a record of a version; a payload that is missing or not a JSON array counts as empty.
  init?(_ record: CKRecord, version: Int) {
    guard AchievementRecord.version(of: record) <= version else { return nil }
    self = (record["payload"] as? Data).flatMap { Self(payload: $0) } ?? Self()
    lastUpdated = record["lastUpdated"] as? Date
    archive = record["summary"] as? Data
  }

  /// Copies the achievements onto the record; other fields of the record stay.
  func copy(to record: CKRecord) {
    record["version"] = Int64(AchievementRecord.version)
    record["payload"] = payload
    record["lastUpdated"] = lastUpdated
    record["summary"] = archive
  }

  /// Sets are joined, whichever device has an unsent change.
  ///
  /// Nothing is ever deleted, so an item whose record alone was deleted is sent again, and one with
  /// an unreadable record stays visible.
  static let merging = MergePolicy<AchievementSet>(mergesAlways: true) { conflict in
    switch conflict.server {
    case .item(let theirs): .merged(conflict.mine.merged(with: theirs))
    case .deleted, .unreadable: .mine
    }
  }
}
