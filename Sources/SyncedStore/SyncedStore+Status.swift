public import Foundation

extension SyncedStore {
  /// The figures and problems of a store since it was opened.
  public struct Activity: Hashable, Sendable {
    /// The way in which a conflict ended.
    public enum Resolution: String, Hashable, Sendable, Codable {
      /// The server's version replaced the one on this device.
      case serverWon
      /// The version on this device was kept and is sent again.
      case clientWon
      /// Both were merged into a new version.
      case merged
      /// Both were equal.
      case equal
    }

    /// A conflict between a change on this device and one on the server.
    public struct Conflict: Hashable, Sendable, Codable {
      /// The record's name.
      public var name: String
      /// The record's type.
      public var type: CKRecord.RecordType
      /// The way in which it ended.
      public var resolution: Resolution
    }

    /// A change that can't be sent for now, a record that can't be read, or a file that can't be
    /// written.
    public struct Problem: Hashable, Sendable {
      /// The record, zone or file that has the problem; several of these can have the same name.
      enum Subject: Hashable, Sendable {
        case record(CKRecord.ID)
        case zone(CKRecordZone.ID)
        case file(String)

        var name: String {
          switch self {
          case .record(let id): id.recordName
          case .zone(let id): id.zoneName
          case .file(let name): name
          }
        }
      }

      let subject: Subject
      /// The name of the record, the zone or the file.
      public var name: String
      /// The code of the CloudKit error; `nil` for a problem of this device.
      public var code: CKError.Code?
      /// A sentence for users: what happened and what to do.
      public var message: String
    }

    /// The number of saves that the server accepted.
    public internal(set) var saved = 0
    /// The number of deletions that the server accepted.
    public internal(set) var deleted = 0
    /// The number of versions from the server that changed an item.
    public internal(set) var received = 0
    /// The number of deletions from the server that removed an item.
    public internal(set) var removed = 0
    /// The number of changes that were sent again after an error.
    public internal(set) var sentAgain = 0
    /// The number of times that an account's items were removed.
    public internal(set) var wipes = 0
    /// The number of conflicts.
    public private(set) var conflictCount = 0
    /// The last 1,000 conflicts, oldest first.
    public private(set) var conflicts: [Conflict] = []
    /// The last 1,000 unsolved problems, oldest first.
    public private(set) var problems: [Problem] = []

    /// Creates an activity without figures.
    public init() {}

    /// The conflicts after an earlier activity of the same store, 1,000 at most, oldest first.
    public func conflicts(since earlier: Activity) -> [Conflict] {
      conflicts.suffix(max(0, conflictCount - earlier.conflictCount))
    }

    mutating func note(_ conflict: Conflict) {
      conflictCount += 1
      conflicts.append(conflict)
      if conflicts.count > 1_000 { conflicts.removeFirst(conflicts.count - 1_000) }
    }

    mutating func note(_ subject: Problem.Subject, _ code: CKError.Code?, _ message: String) {
      solve(subject)
      problems.append(
        Problem(subject: subject, name: subject.name, code: code, message: message))
      if problems.count > 1_000 { problems.removeFirst(problems.count - 1_000) }
    }

    mutating func solve(_ subject: Problem.Subject) {
      if !problems.isEmpty { problems.removeAll { $0.subject == subject } }
    }

    mutating func solveAll() {
      problems = []
    }
  }

  /// The state of a store's sync.
  public struct Status: Hashable, Sendable {
    /// Whether the store syncs.
    public var isRunning: Bool
    /// Whether a call of ``SyncedStore/sync(rounds:)`` is under way.
    public var isSyncing: Bool
    /// The number of changes that the server has not confirmed.
    public var unsentCount: Int
    /// The number of records that only a newer version of the app can read.
    public var unreadableCount: Int
    /// The end of the last sync of this account after which no change was left.
    ///
    /// In this or an earlier run; with Apple's engine only that of ``SyncedStore/sync(rounds:)``.
    public var lastSync: Date?
    /// The error of the last fetch or send; `nil` if it succeeded.
    ///
    /// It is also `nil` while there are changes that the server refused, which ``activity`` tells.
    /// With Apple's engine it is that of ``SyncedStore/sync(rounds:)`` only.
    public var failure: CKError?
    /// The figures and problems since the store was opened.
    public var activity: Activity
    /// The name of the user record of the account that the items belong to; `nil` if
    /// they belong to no account.
    public var account: String?
    /// Whether the store's own zone exists, as far as is known.
    public var hasZone = false
  }

  /// A change of an item that did not come from the app.
  public struct ItemChange: Hashable, Sendable {
    /// The effect of the change on the item that the app shows.
    public enum Kind: Hashable, Sendable {
      /// The item is new or has another value.
      case saved
      /// The item was removed.
      case removed
      /// The item was kept although the server has another version.
      case kept
    }

    /// The record's ID.
    public var recordID: CKRecord.ID
    /// The record's type.
    public var recordType: CKRecord.RecordType
    /// The kind of the change.
    public var kind: Kind
    /// The way in which a conflict ended; `nil` if there was none.
    public var resolution: Activity.Resolution?
  }
}

/// An error of a ``SyncedStore``; errors of CloudKit are thrown as they are.
public struct SyncedStoreError: Error, Hashable, Sendable, LocalizedError,
  CustomStringConvertible
{
  /// A kind of error.
  ///
  /// More kinds may follow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the kind.
    public let rawValue: String

    /// Names a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store does not sync: call `start` first.
    public static let notStarted = Code(rawValue: "notStarted")
    /// The sync ended, and changes are left that the server does not accept.
    public static let changesLeft = Code(rawValue: "changesLeft")
    /// The store was opened without the type of an item.
    public static let unknownType = Code(rawValue: "unknownType")
    /// The zone of an item is not shared with the account any more.
    public static let notShared = Code(rawValue: "notShared")
    /// The items belong to another container or database.
    public static let otherDatabase = Code(rawValue: "otherDatabase")
    /// The items belong to another zone.
    public static let otherZone = Code(rawValue: "otherZone")
    /// The name of an item can't be that of a record.
    public static let invalidName = Code(rawValue: "invalidName")
    /// The name of an item is that of an item of another type.
    public static let usedName = Code(rawValue: "usedName")
  }

  /// The kind.
  public let code: Code

  /// A sentence for users: what happened and what to do.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension SyncedStoreError {
  static let notConnected = SyncedStoreError(
    .notStarted, "The store has no database; call `connect` first.")
  static let notStarted = SyncedStoreError(
    .notStarted, "The store does not sync; start it first.")
}
