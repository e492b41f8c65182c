package import CloudProtocol

/// The status of a machine for display.
///
/// It contains no names or data of records.
package struct SyncStatus: Hashable, Sendable {
  /// The running operation.
  package enum Phase: String, Hashable, Sendable {
    /// Not started.
    case starting
    /// No operation is running.
    case idle
    /// An account check.
    case checkingAccount
    /// A fetch.
    case fetching
    /// A send.
    case sending
    /// Stopped; final.
    case stopped
  }

  /// The reason why no operation is running although there is work to do.
  package enum Reason: String, Hashable, Sendable {
    /// There is no usable account.
    case noAccount
    /// The account check failed.
    case accountUnknown
    /// The server asked to wait.
    case serverAsked
    /// The last attempt failed.
    case retry
    /// Changes are being collected.
    case gathering
  }

  /// The reason and the end of a wait.
  package struct Wait: Hashable, Sendable {
    /// The reason.
    package var reason: Reason
    /// The end; `nil` waits for an input.
    package var until: Moment?

    /// Creates a wait.
    package init(reason: Reason, until: Moment?) {
      self.reason = reason
      self.until = until
    }
  }

  /// A failed operation.
  package struct Failure: Hashable, Sendable {
    /// The error code.
    package var code: CloudError.Code
    /// The operation.
    package var phase: Phase
    /// The moment at which it ended.
    package var moment: Moment
  }

  /// The progress of an operation.
  package struct Progress: Hashable, Sendable {
    /// Completed record changes: acknowledged by the server, or delivered to the app.
    package var doneRecords: Int
    /// Remaining record changes; `nil` if only the server knows their number.
    package var remainingRecords: Int?
    /// Completed zones.
    package var doneZones: Int
    /// Remaining zones, as far as known.
    package var remainingZones: Int
  }

  /// The running operation.
  package var phase: Phase
  /// The reason for waiting, if no operation is running.
  package var wait: Wait?
  /// The number of pending record changes.
  package var pendingRecords: Int
  /// The number of pending zone changes.
  package var pendingZones: Int
  /// The number of record changes in flight.
  package var recordsInFlight: Int
  /// The number of zone changes in flight.
  package var zonesInFlight: Int
  /// The progress of the running operation.
  package var progress: Progress?
  /// The end of the last successful fetch.
  package var lastFetch: Moment?
  /// The end of the last successful send.
  package var lastSend: Moment?
  /// The last failure, unless the same operation has succeeded since.
  package var lastFailure: Failure?
}

/// The history of finished operations.
struct OperationHistory: Sendable {
  var lastFetch: Moment?
  var lastSend: Moment?
  var lastFailure: SyncStatus.Failure?

  /// Records the end of an operation.
  mutating func note(_ phase: SyncStatus.Phase, _ code: CloudError.Code?, _ now: Moment) {
    if let code {
      lastFailure = SyncStatus.Failure(code: code, phase: phase, moment: now)
      return
    }
    if phase == .fetching { lastFetch = now }
    if phase == .sending { lastSend = now }
    if lastFailure?.phase == phase { lastFailure = nil }
  }
}
