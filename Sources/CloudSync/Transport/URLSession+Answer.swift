package import Foundation

#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

extension URLSession {
  /// Performs a request and returns its response.
  ///
  /// Cancelling the task cancels the request.
  ///
  /// Foundation's own `data(for:)` cancels its request inside the task's cancellation handler,
  /// where the task is locked, and on Linux waits there for the session's queue. When a response
  /// arrives at that moment, that queue waits for the task, and the process deadlocks. Cancelling
  /// it elsewhere can crash the process instead, when the request is removed twice from its
  /// session's list. On Linux a cancelled request therefore runs to its end and its response is
  /// dropped.
  package func answer(to request: URLRequest) async throws -> (Data, URLResponse) {
    let pending = PendingRequest<(Data, URLResponse)>()
    let task = dataTask(with: request) { data, response, error in
      if let data, let response, error == nil {
        pending.finish(.success((data, response)))
      } else {
        pending.finish(.failure(error ?? URLError(.badServerResponse)))
      }
    }
    task.resume()
    let outcome = await pending.outcome()
    #if !canImport(FoundationNetworking)
      if case .failure(let error) = outcome, error is CancellationError { task.cancel() }
    #endif
    return try outcome.get()
  }
}
