extension CKSyncEngine {
  /// What an engine is doing, how far it is, and what it waits for, at one moment.
  ///
  /// Not in CloudKit. It holds numbers and kinds only: no name of a record, a zone or an account.
  public struct Status: Hashable, Sendable {
    /// What is under way.
    public enum Activity: String, Hashable, Sendable {
      /// Not begun: the state store could not be opened, or the engine is being made.
      case starting
      /// Nothing; `waiting` says whether something is to come.
      case idle
      /// The engine asks who is signed in.
      case checkingAccount
      /// A fetch.
      case fetching
      /// A send.
      case sending
      /// The engine or its delegate is gone.
      case stopped
    }

    /// A wait, and what ends it.
    public struct Waiting: Hashable, Sendable {
      /// Why the engine waits.
      public enum Reason: String, Hashable, Sendable {
        /// Nobody is signed in whose account can be used.
        case noAccount
        /// It could not be found out who is signed in; the engine asks again.
        case accountUnknown
        /// The server asked for a pause.
        case serverAsked
        /// The last try failed; the next one follows.
        case retry
        /// Changes wait a moment for others to go with them.
        case gathering
      }

      /// Why.
      public let reason: Reason

      /// Until when, as the time since the engine began; `nil` for until something happens.
      public let until: Duration?
    }

    /// How far an operation is.
    public struct Progress: Hashable, Sendable {
      /// Record changes that are through: answered by the server, or taken by the delegate.
      public let completedRecordCount: Int
      /// All record changes of the operation; `nil` for a fetch, as only the server knows.
      public let totalRecordCount: Int?
      /// Zones that are through.
      public let completedZoneCount: Int
      /// All zones of the operation, as far as is known.
      public let totalZoneCount: Int

      /// The part that is through, from 0 to 1; by zones where the records are not known.
      public var fractionCompleted: Double {
        let (done, all) =
          totalRecordCount.map { (completedRecordCount, $0) }
          ?? (completedZoneCount, totalZoneCount)
        return all > 0 ? min(1, Double(done) / Double(all)) : 0
      }
    }

    /// Something that went wrong.
    public struct Failure: Hashable, Sendable {
      /// What kind of error it was.
      public let code: CKError.Code
      /// What was under way.
      public let activity: Activity
      /// When it ended, as the time since the engine began.
      public let time: Duration
    }

    /// When this was so, as the time since the engine began.
    public let time: Duration
    /// What is under way.
    public let activity: Activity
    /// What the engine waits for while nothing is under way; `nil` when there is nothing to do.
    public let waiting: Waiting?
    /// How far the operation is that is under way.
    public let progress: Progress?
    /// How many record changes wait to be sent.
    public let pendingRecordZoneChangeCount: Int
    /// How many zone changes wait to be sent.
    public let pendingDatabaseChangeCount: Int
    /// How many changes of records and zones are in a request.
    public let inFlightChangeCount: Int
    /// When the last fetch ended that went well, as the time since the engine began.
    public let lastFetch: Duration?
    /// When the last send ended that went well, as the time since the engine began.
    public let lastSend: Duration?
    /// What went wrong last; `nil` when the same has gone well since.
    public let lastFailure: Failure?
  }

  /// What the engine is doing; costs the same however much is pending.
  ///
  /// Not in CloudKit.
  public var status: Status { driver.status }

  /// What the engine is doing, now and whenever that is different.
  ///
  /// Who is slow gets the newest status and misses those between. The sequence ends when the
  /// engine is gone; it does not keep the engine alive. Not in CloudKit.
  public var statusUpdates: StatusUpdates { StatusUpdates(driver: driver) }
}

extension CKSyncEngine.Status {
  /// Whether the two differ in nothing but when they were so.
  func isSame(as other: CKSyncEngine.Status) -> Bool {
    activity == other.activity && waiting == other.waiting && progress == other.progress
      && pendingRecordZoneChangeCount == other.pendingRecordZoneChangeCount
      && pendingDatabaseChangeCount == other.pendingDatabaseChangeCount
      && inFlightChangeCount == other.inFlightChangeCount && lastFetch == other.lastFetch
      && lastSend == other.lastSend && lastFailure == other.lastFailure
  }
}

extension CKSyncEngine.Status: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    var parts = [activity.rawValue]
    if let waiting {
      let until = waiting.until.map { " until \($0.roundedSeconds) s" } ?? ""
      parts.append("waiting\(until) (\(waiting.reason.rawValue))")
    }
    if let progress {
      let all = progress.totalRecordCount.map { " of \($0)" } ?? ""
      parts.append("\(progress.completedRecordCount)\(all) records")
      parts.append("\(progress.completedZoneCount) of \(progress.totalZoneCount) zones")
    }
    parts.append("\(pendingRecordZoneChangeCount) record changes pending")
    parts.append("\(pendingDatabaseChangeCount) zone changes pending")
    parts.append("\(inFlightChangeCount) in flight")
    if let lastFailure {
      parts.append("last failure \(lastFailure.code) while \(lastFailure.activity.rawValue)")
    }
    return parts.joined(separator: ", ")
  }
}
