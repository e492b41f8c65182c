import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Testing

@testable import AchievementStore

/// A device with an achievement store that syncs when it is told to.
final class AchievementDevice: Sendable {
  static let containerName = "iCloud.example.achievements"
  static let noon = Date(timeIntervalSince1970: 1_793_707_200)

  let link: LoopbackDevice
  let folder: ResultFolder
  let clock = SimulatedClock()
  let store: AchievementStore

  init(
    _ server: LoopbackServer, _ name: String, account: String? = "ada",
    folder: ResultFolder = ResultFolder(), isEnabled: Bool = true, automaticallySync: Bool = false,
    version: Int = AchievementRecord.version, recovering: Bool = false, now: Date = noon,
    container: String = containerName
  ) throws {
    self.folder = folder
    link = server.device(name, signedInAs: account)
    store = try AchievementStore(
      directory: folder.url,
      container: CKContainer(identifier: container, transport: link),
      automaticallySync: automaticallySync,
      clock: automaticallySync ? ContinuousClock() : clock, version: version,
      recovering: recovering, now: { now })
    if isEnabled { try store.setEnabled(true) }
  }

  /// The progress of an achievement, and the numbers of its unlocked tiers.
  func progress(_ name: String) -> [Int] {
    guard let achievement = store.achievements.first(where: { $0.id == Self.id(name) }) else {
      return []
    }
    let progress = achievement.progress
    return [progress.currentValue, progress.currentTier?.rawValue ?? 0]
      + progress.tierUnlockDates.keys.map(\.rawValue).sorted()
  }

  func note(_ name: String, _ value: Int) throws {
    try store.note(progress: value, of: Self.id(name))
  }

  /// The summary of a record, as an app without any of our code reads it.
  static func summary(of record: CKRecord) throws -> [String: Int]? {
    let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
    let archive = try #require(record["summary"] as? Data)
    return try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: archive)
      as? [String: Int]
  }

  /// The file of the engine's state.
  static func stateFile(_ folder: ResultFolder) -> URL {
    folder.url.appendingPathComponent("achievement-sync-state.data")
  }

  static func id(_ name: String) -> UUID {
    AchievementDefinition.named(name)?.id ?? UUID()
  }
}

extension ZoneID {
  static let achievements = ZoneID(name: "AchievementsZone")
}

extension LoopbackServer {
  /// The one record of an account, as a device without any of our code would read it.
  func achievements(of account: String = "ada") async throws -> CKRecord {
    try await database(of: account).record(for: AchievementRecord.recordID)
  }

  /// Saves fields into an account's record as another version of the app would.
  func changeAchievements(
    of account: String = "ada", _ change: (CKRecord) -> Void
  ) async throws {
    let database = database(of: account)
    let record: CKRecord
    do {
      record = try await achievements(of: account)
    } catch {
      try await database.save(CKRecordZone(zoneID: AchievementRecord.zoneID))
      record = CKRecord(
        recordType: AchievementRecord.recordType, recordID: AchievementRecord.recordID)
    }
    change(record)
    try await database.save(record)
  }

  private func database(of account: String) -> CKDatabase {
    CKContainer(
      identifier: AchievementDevice.containerName,
      transport: device("another app of \(account)", signedInAs: account)
    ).privateCloudDatabase
  }
}

/// Numbers that look random and are the same in every run with the same seed.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) {
    state = seed &+ 0x9e37_79b9_7f4a_7c15
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
