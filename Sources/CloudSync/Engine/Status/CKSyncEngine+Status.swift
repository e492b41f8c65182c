extension CKSyncEngine {
  /// The activity of an engine, its progress and the reason for waiting, at one moment.
  ///
  /// It contains numbers and kinds only: no names of records, zones or accounts. Not in CloudKit.
  public struct Status: Hashable, Sendable, CustomStringConvertible {
    /// The running operation.
    public enum Activity: String, Hashable, Sendable {
      /// Not started: the state store could not be opened, or the engine is being created.
      case starting
      /// No operation; `waiting` gives the reason, if any.
      case idle
      /// An account check.
      case checkingAccount
      /// A fetch.
      case fetching
      /// A send.
      case sending
      /// The engine or its delegate was deallocated.
      case stopped
    }

    /// A wait and its end.
    public struct Waiting: Hashable, Sendable {
      /// The reasons for which an engine waits while no operation is running.
      public enum Reason: String, Hashable, Sendable {
        /// There is no usable account.
        case noAccount
        /// The account check failed; the engine repeats it.
        case accountUnknown
        /// The server asked to wait.
        case serverAsked
        /// The last attempt failed and will be repeated.
        case retry
        /// Changes are being collected for a common request.
        case gathering
      }

      /// The event or the delay that the engine waits for.
      public let reason: Reason

      /// The end, as the time since the engine started; `nil` waits for an event.
      public let until: Duration?
    }

    /// The progress of an operation.
    public struct Progress: Hashable, Sendable {
      /// Completed record changes: acknowledged by the server, or handled by the delegate.
      public let completedRecordCount: Int
      /// All record changes of the operation; `nil` for a fetch, whose number only the server
      /// knows.
      public let totalRecordCount: Int?
      /// The zones whose changes were sent or fetched completely.
      public let completedZoneCount: Int
      /// All zones of the operation, as far as known.
      public let totalZoneCount: Int

      /// The completed fraction, from 0 to 1; by zones if the number of records is not known.
      public var fractionCompleted: Double {
        let (done, all) =
          totalRecordCount.map { (completedRecordCount, $0) }
          ?? (completedZoneCount, totalZoneCount)
        return all > 0 ? min(1, Double(done) / Double(all)) : 0
      }
    }

    /// A failed operation.
    public struct Failure: Hashable, Sendable {
      /// The error code.
      public let code: CKError.Code
      /// The operation.
      public let activity: Activity
      /// Its end, as the time since the engine started.
      public let time: Duration
    }

    /// The moment of this status, as the time since the engine started.
    public internal(set) var time: Duration
    /// The running operation.
    public let activity: Activity
    /// The wait while no operation is running; `nil` if there is nothing to do.
    public let waiting: Waiting?
    /// The progress of the running operation.
    public let progress: Progress?
    /// The number of pending record changes.
    public let pendingRecordZoneChangeCount: Int
    /// The number of pending zone changes.
    public let pendingDatabaseChangeCount: Int
    /// The number of record and zone changes in flight.
    public let inFlightChangeCount: Int
    /// The end of the last successful fetch, as the time since the engine started.
    public let lastFetch: Duration?
    /// The end of the last successful send, as the time since the engine started.
    public let lastSend: Duration?
    /// The last failure; `nil` after the same operation has succeeded.
    public let lastFailure: Failure?

    /// A description in one line.
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

    /// Whether the two are equal except for their times.
    func isSame(as other: CKSyncEngine.Status) -> Bool {
      var other = other
      other.time = time
      return self == other
    }
  }

  /// The current status; its cost does not depend on the number of pending changes.
  ///
  /// Not in CloudKit.
  public var status: Status { driver.status }

  /// The current status and each later status that differs.
  ///
  /// A slow consumer receives the latest status and misses those in between. The sequence does not
  /// retain the engine and ends when the engine is deallocated. Not in CloudKit.
  public var statusUpdates: StatusUpdates { StatusUpdates(driver: driver) }
}
