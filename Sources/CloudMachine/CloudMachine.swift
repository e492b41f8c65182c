package import CloudProtocol
package import Records

/// Everything the cloud decides: the answer to a call, what is stored for it, and whom to tell.
///
/// Pure: it reads no clock, draws no random numbers and keeps no state of its own; what lasts is
/// in the `CloudStorage` it is given. Each call is one transaction of that storage, but for a query
/// that is begun with `begin` and read in slices.
package struct CloudMachine: Sendable {
  /// How much it takes at once.
  package var limits: CloudLimits
  /// Faults built in by a test; none in earnest.
  package var plantedBugs: PlantedBugs = []

  /// Makes a cloud that keeps to `limits`.
  package init(limits: CloudLimits = .init()) { self.limits = limits }

  /// Answers `call` from `caller` at `now`, changing `storage` as the answer says.
  ///
  /// A mutation whose request ID is remembered for the same user and device changes nothing and
  /// is answered as it was the first time. A call refused as a whole leaves no trace.
  /// Throws only what the storage throws; nothing was changed then.
  package func answer(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> CloudAnswer {
    try storage.transaction {
      switch try begin(call, from: caller, now: now, in: storage) {
      case .answered(let answer): return answer
      case .querying(var scan):
        while true {
          try scan.read(from: storage)
          scan.examine()
          if let result = scan.result { return CloudAnswer(result: result) }
        }
      }
    }
  }

  /// Like `answer(_:from:now:in:)`, but leaves a query, which may take long, to the caller.
  package func begin(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> CloudStep {
    try storage.transaction {
      do {
        return try decide(call, from: caller, now: now, in: storage)
      } catch let refusal as Refusal {
        return .answered(CloudAnswer(result: .failure(refusal.error)))
      }
    }
  }

  /// Like `begin(_:from:now:in:)`, but turns away callers who ask too often, as
  /// `limits.throttle` says; `throttle` counts them.
  package func begin(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage,
    throttle: inout CloudThrottle
  ) throws -> CloudStep {
    if let rate = limits.throttle,
      let error = throttle.refusal(of: caller, now: now, rate: rate)
    {
      return .answered(CloudAnswer(result: .failure(error)))
    }
    return try begin(call, from: caller, now: now, in: storage)
  }
}

/// How far a call is after its first transaction.
package enum CloudStep: Sendable {
  /// The call is answered.
  case answered(CloudAnswer)
  /// The call is a query, whose records are still to be read.
  case querying(QueryScan)
}

/// Ends a call as a whole; told apart from what a storage throws.
struct Refusal: Error {
  var error: CloudError

  init(_ error: CloudError) { self.error = error }

  init(_ code: CloudError.Code, _ message: String) { error = CloudError(code, message) }
}
