package import Foundation

#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

extension URLRequest {
  /// The request with a host to which `URLSession` can connect.
  ///
  /// On Linux it fails for IPv6 addresses as a `badURL`. `localhost` also means `::1`; there is no
  /// other name for the address of another machine.
  package var connectable: URLRequest {
    #if canImport(FoundationNetworking)
      guard let url, url.host == "::1",
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
      else { return self }
      components.host = "localhost"
      var request = self
      request.url = components.url
      return request
    #else
      return self
    #endif
  }
}

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
    let task = dataTask(with: request.connectable) { data, response, error in
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
