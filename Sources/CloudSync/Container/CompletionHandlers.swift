import Foundation

// The face's only tasks. They are detached, so that what a completion handler or an observer
// does is never taken for a part of a delegate's callback that happened to make the call.

/// Runs `body` in a task and tells a completion handler of the older kind how it went.
func answer<Value: Sendable>(
  _ completionHandler: @escaping @Sendable (Value?, (any Error)?) -> Void,
  _ body: @escaping @Sendable () async throws -> Value
) {
  answer(
    { (result: Result<Value, any Error>) in
      switch result {
      case .success(let value): completionHandler(value, nil)
      case .failure(let error): completionHandler(nil, error)
      }
    }, body)
}

/// Runs `body` in a task and tells a completion handler of the newer kind how it went.
func answer<Value: Sendable>(
  _ completionHandler: @escaping @Sendable (Result<Value, any Error>) -> Void,
  _ body: @escaping @Sendable () async throws -> Value
) {
  Task.detached(priority: .userInitiated) {
    do {
      completionHandler(.success(try await body()))
    } catch {
      completionHandler(.failure(error))
    }
  }
}

/// Posts `.CKAccountChanged`, away from the thread of the transport that told.
func postAccountChange() {
  Task.detached(priority: .userInitiated) {
    NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
  }
}
