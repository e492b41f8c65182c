package import Foundation
import Synchronization

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
    let flight = Flight()
    let task = dataTask(with: request) { data, response, error in
      flight.end(Flight.outcome(data, response, error))
    }
    task.resume()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { flight.wait($0) }
    } onCancel: {
      flight.end(.failure(CancellationError()))
    }
    #if !canImport(FoundationNetworking)
      if case .failure(let error) = outcome, error is CancellationError { task.cancel() }
    #endif
    return try outcome.get()
  }
}

/// A request that is on its way: the first end that it comes to is the one that counts.
private final class Flight: Sendable {
  typealias Outcome = Result<(Data, URLResponse), any Error>

  private struct State {
    var outcome: Outcome?
    var waiter: CheckedContinuation<Outcome, Never>?
  }

  private let state = Mutex(State())

  static func outcome(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Outcome {
    if let data, let response, error == nil { return .success((data, response)) }
    return .failure(error ?? URLError(.badServerResponse))
  }

  func end(_ outcome: Outcome) {
    let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      return state.waiter.take()
    }
    waiter?.resume(returning: outcome)
  }

  func wait(_ waiter: CheckedContinuation<Outcome, Never>) {
    let outcome = state.withLock { state -> Outcome? in
      if state.outcome == nil { state.waiter = waiter }
      return state.outcome
    }
    if let outcome { waiter.resume(returning: outcome) }
  }
}
