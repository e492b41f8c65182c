import Foundation

extension CKOperation {
  /// Performs a request and calls the blocks.
  ///
  /// - Parameters:
  ///   - request: Performs the request.
  ///   - reporting: Calls the blocks for single items.
  ///   - concluding: Calls the final blocks with the results, if there are any, and with what
  ///     `conclude` passes on.
  func perform<Results: RequestResults>(
    _ request: () async throws -> Results, reporting: (Results) async throws -> Void,
    concluding: @escaping @Sendable (Results?, Result<Void, any Error>, (any Error)?) -> Void
  ) async {
    var results: Results?
    var failure: CKError?
    do {
      try checkCancellation()
      let received = try await request()
      results = received
      try await reporting(received)
    } catch {
      failure = error as? CKError ?? CKError(.internalError, "\(error)")
    }
    await conclude(failure, items: results?.failures ?? [:]) { [results] result, error in
      concluding(results, result, error)
    }
  }

  /// Throws if the operation was cancelled.
  func checkCancellation() throws(CKError) {
    if isCancelled { throw .cancelled }
  }

  /// Calls `body` for each item on the operation's queue, until it is cancelled.
  func report<ID, Value>(
    _ results: ItemResults<ID, Value>,
    _ body: @escaping @Sendable (ID, Result<Value, CKError>) -> Void
  ) async throws(CKError) {
    await callbacks.call {
      for item in results.items where !self.isCancelled { body(item.id, item.result) }
    }
    try checkCancellation()
  }

  /// Calls the final blocks on the operation's queue.
  ///
  /// - Parameters:
  ///   - failure: The error of the operation as a whole.
  ///   - items: The errors of single items. Older blocks receive them as `partialFailure`; blocks
  ///     with a `Result` do not receive them.
  ///   - body: Calls the blocks with the result for newer blocks and the error for older ones.
  func conclude(
    _ failure: CKError?, items: [AnyHashable: CKError] = [:],
    _ body: @escaping @Sendable (Result<Void, any Error>, (any Error)?) -> Void
  ) async {
    let partialFailure = items.isEmpty ? nil : CKError(partialFailure: items)
    await callbacks.call {
      let failure = self.isCancelled ? .cancelled : failure
      body(failure.map { .failure($0) } ?? .success(()), failure ?? partialFailure)
    }
  }
}

extension CKError {
  /// The error of a cancelled operation.
  static var cancelled: CKError {
    CKError(.operationCancelled, "The operation was cancelled.")
  }
}

extension Result where Failure == CKError {
  /// The result with the error type of the public API.
  var widened: Result<Success, any Error> { mapError { $0 } }

  /// The error of a failure.
  var failure: CKError? {
    if case .failure(let error) = self { error } else { nil }
  }

  /// The value of a success.
  var success: Success? {
    if case .success(let value) = self { value } else { nil }
  }
}
