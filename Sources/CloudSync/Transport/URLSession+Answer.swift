package import Foundation

#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

extension URLSession {
  /// The answer to a request; a task that is cancelled gives the request up.
  ///
  /// Foundation's own `data(for:)` cancels its request inside the handler of the task's
  /// cancellation, where the task is locked, and on Linux waits there for the session's queue. When
  /// an answer comes in at that moment, that queue waits for the task, and the process stands
  /// still. Cancelling it elsewhere can end the process instead, when the request is taken off its
  /// session's list twice. So on Linux a request that is given up runs to its end unheard.
  package func answer(to request: URLRequest) async throws -> (Data, URLResponse) {
    let flight = Flight<(Data, URLResponse)>()
    let task = dataTask(with: request) { data, response, error in
      if let data, let response, error == nil {
        flight.end(.success((data, response)))
      } else {
        flight.end(.failure(error ?? URLError(.badServerResponse)))
      }
    }
    task.resume()
    let outcome = await flight.outcome()
    #if !canImport(FoundationNetworking)
      if case .failure(let error) = outcome, error is CancellationError { task.cancel() }
    #endif
    return try outcome.get()
  }
}
