package import CloudProtocol

/// What a machine is doing and how far it is, for people: no name of anything in it.
package struct SyncStatus: Hashable, Sendable {
  /// What is under way.
  package enum Phase: String, Hashable, Sendable {
    /// Not started.
    case starting
    /// Nothing.
    case idle
    /// Finding out who is signed in.
    case checkingAccount
    /// A fetch.
    case fetching
    /// A send.
    case sending
    /// Nothing any more.
    case stopped
  }

  /// Why nothing is under way although something is to be done.
  package enum Reason: String, Hashable, Sendable {
    /// Nobody is signed in who may be used.
    case noAccount
    /// It could not be found out who is signed in.
    case accountUnknown
    /// The server asked for no request until then.
    case serverAsked
    /// The last try failed.
    case retry
    /// Changes wait for company.
    case gathering
  }

  /// A wait.
  package struct Wait: Hashable, Sendable {
    /// Why.
    package var reason: Reason
    /// Until when; `nil` for until something happens.
    package var until: Moment?

    /// Waits until `until`.
    package init(reason: Reason, until: Moment?) {
      self.reason = reason
      self.until = until
    }
  }

  /// Something that went wrong.
  package struct Failure: Hashable, Sendable {
    /// What kind of error it was.
    package var code: CloudError.Code
    /// What was under way.
    package var phase: Phase
    /// When it ended.
    package var moment: Moment
  }

  /// How far an operation is.
  package struct Progress: Hashable, Sendable {
    /// Record changes that are through: acknowledged by the server, or taken by the app.
    package var doneRecords = 0
    /// Record changes that are left; `nil` where only the server knows.
    package var remainingRecords: Int?
    /// Zones that are through.
    package var doneZones = 0
    /// Zones that are left, as far as is known.
    package var remainingZones = 0
  }

  /// What is under way.
  package var phase: Phase
  /// What is waited for, where nothing is under way.
  package var wait: Wait?
  /// Record changes that wait to be sent.
  package var pendingRecords: Int
  /// Zone changes that wait to be sent.
  package var pendingZones: Int
  /// Record changes in a request.
  package var recordsUnderWay: Int
  /// Zone changes in a request.
  package var zonesUnderWay: Int
  /// How far the operation is that is under way.
  package var progress: Progress?
  /// When the last fetch ended that went well.
  package var lastFetch: Moment?
  /// When the last send ended that went well.
  package var lastSend: Moment?
  /// What went wrong last, unless the same has gone well since.
  package var lastFailure: Failure?
}

/// What a machine remembers of the operations that ended.
struct OperationHistory: Sendable {
  var lastFetch: Moment?
  var lastSend: Moment?
  var lastFailure: SyncStatus.Failure?

  /// Notes how an operation ended.
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
