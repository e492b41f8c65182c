public import CloudSync
public import Foundation

/// Where the achievements live in the cloud, and how their record is read and written.
///
/// Rules: the rows A in Docs/Stores.md.
public enum AchievementRecord {
  /// The type of the only record.
  public static let recordType: CKRecord.RecordType = "UserAchievements"
  /// The record's name: there is one for each person.
  public static let recordName = "user_achievements"
  /// The store's own zone; only own zones keep a change feed.
  public static let zoneID = CKRecordZone.ID(zoneName: "AchievementsZone")
  /// The record's ID.
  public static let recordID = CKRecord.ID(recordName: recordName, zoneID: zoneID)
  /// The newest version of the record this build understands, and the one it writes.
  public static let version = 1

  /// What one version of the record says.
  struct Content {
    var version: Int
    /// `nil` when the payload is missing or no JSON array.
    var payload: Data?
    var lastUpdated: Date?
    var summary: [String: Int]
  }

  /// Reads a record; missing fields get their defaults.
  static func read(_ record: CKRecord) -> Content {
    let version = record["version"] as? Int64 ?? 1
    return Content(
      version: Int(clamping: version), payload: record["payload"] as? Data,
      lastUpdated: record["lastUpdated"] as? Date,
      summary: (record["summary"] as? Data).flatMap { Self.summary(from: $0) } ?? [:])
  }

  /// Copies the achievements onto the record; fields this version does not know stay as they are.
  static func write(_ set: AchievementSet, onto record: CKRecord, now: Date) {
    record["version"] = Int64(version)
    record["payload"] = set.payload
    record["lastUpdated"] = now
    record["summary"] = archived(set.summary)
  }

  /// The counts as a keyed archive of a dictionary.
  public static func archived(_ summary: [String: Int]) -> Data {
    (try? NSKeyedArchiver.archivedData(withRootObject: summary, requiringSecureCoding: true))
      ?? Data()
  }

  /// The counts in a keyed archive, made with or without secure coding; `nil` when it is no such
  /// archive.
  ///
  /// The archive is read as the property list it is, because an unarchiver may stop the program
  /// over bytes from outside that name classes it does not have.
  public static func summary(from data: Data) -> [String: Int]? {
    KeyedDictionary(data)?.counts
  }
}
