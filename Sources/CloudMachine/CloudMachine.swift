package import CloudProtocol
package import Records

/// The server's state machine: decides the reply to a call, the stored changes and the pushes.
///
/// Pure: it reads no clock, uses no random numbers and keeps no state; all state is in the
/// `CloudStorage` that is passed in. The caller runs the transaction: `begin` and administrative
/// actions each work in one of its transactions. A query is started with `begin` and read in
/// slices, each of which may be a separate transaction.
package struct CloudMachine: Sendable {
  /// The limits that requests are checked against.
  package var limits: CloudLimits

  /// Reads a range of the content with a checksum from the storage, in a transaction of its own.
  package typealias AssetReader =
    @Sendable (_ checksum: String, Range<Int>) throws(CloudError) -> [UInt8]

  /// The reader with which replies contain large files; without it they contain all bytes.
  package var assetReader: AssetReader?

  /// Creates a machine with `limits`.
  package init(limits: CloudLimits = .init()) { self.limits = limits }

  /// Answers `call` from `caller` at `now`, and applies its changes to `storage`.
  ///
  /// A mutation whose request ID has a receipt for the same user and device changes nothing and
  /// gets the first reply again. A call that is rejected as a whole changes nothing. A query, which
  /// may take long, is returned as a scan that has read its first slice. Throws only storage
  /// errors; then the caller rolls its transaction back.
  package func begin(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> CloudStep {
    do {
      return try decide(admit(call, from: caller, now: now, in: storage))
    } catch let refusal as Refusal {
      return .answered(CloudAnswer(result: .failure(refusal.error)))
    }
  }

  /// Counts a call of `caller` in `throttle`, and returns the error if the rate limit
  /// `limits.throttle` rejects it.
  package func refusal(
    of caller: Caller, now: Timestamp, throttle: inout CloudThrottle
  ) -> CloudError? {
    limits.throttle.flatMap { throttle.refusal(of: caller, now: now, rate: $0) }
  }

  /// Counts a call in a storage that counts those at all servers, before the call's transaction.
  ///
  /// - Returns: The error if the rate limit rejects the call, a wrapped `nil` if it allows it, and
  ///   `nil` if there is no limit or the storage does not count.
  package func refusal(
    ofAccount account: String?, device: String, countedIn storage: any CloudStorage
  ) throws -> CloudError?? {
    guard let rate = limits.throttle,
      let counted = try storage.countRequest(
        of: rate.key(account: account, device: device), window: rate.seconds)
    else { return nil }
    return .some(rate.refusal(of: counted))
  }
}

/// The state of a call after its first transaction.
package enum CloudStep: Sendable {
  /// The call is answered.
  case answered(CloudAnswer)
  /// The call is a query whose records are still to be read.
  case querying(QueryScan)
}

/// Fails a call as a whole; a separate type, to distinguish it from storage errors.
struct Refusal: Error {
  var error: CloudError

  init(_ error: CloudError) { self.error = error }

  init(_ code: CloudError.Code, _ message: String) { error = CloudError(code, message) }

  /// Throws `error` as a refusal, if there is one.
  static func check(_ error: CloudError?) throws {
    if let error { throw Refusal(error) }
  }
}

extension ItemResult {
  /// The value of `body` for the item `id`, or the error with which it refuses.
  init(_ id: ID, _ body: () throws -> Value) throws {
    do { self.init(id: id, .success(try body())) } catch let refusal as Refusal {
      self.init(id: id, .failure(refusal.error))
    }
  }
}
