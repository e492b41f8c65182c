import Foundation

extension CKOperation {
  /// Ends the work when the operation was cancelled.
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

  /// Calls the last blocks on the operation's queue.
  ///
  /// - Parameters:
  ///   - failure: What failed the operation as a whole.
  ///   - items: The errors of items. The blocks with a `Result` are not told of them, the older
  ///     ones are, as `partialFailure`.
  ///   - body: Calls the blocks with the result of the newer and the error of the older kind.
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
  /// What a cancelled operation reports.
  static var cancelled: CKError {
    CKError(.operationCancelled, "The operation was cancelled.")
  }
}

extension Result where Failure == CKError {
  /// The same result with the error type that apps read.
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
