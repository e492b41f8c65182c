package import CloudProtocol
import Foundation
import Records
import Synchronization

/// What a container and its databases share: the way to the server, and who watches it.
package final class CloudConnection: Sendable {
  private struct State {
    var transport: (any CloudTransport)?
    var observation: (any SignalObservation)?
  }

  /// Where a transport is asked for when none was given.
  private let surroundings: CloudSyncEnvironment

  /// The container's name.
  package let container: String

  /// Which of the container's two worlds.
  package let environment: CloudEnvironment

  /// What stands between engines and their delegates; `nil` but in tests.
  package let interception: (any DelegateInterception)?

  /// Who runs the tasks that are started for this container; `nil` for the system's threads.
  package var taskExecutor: (any TaskExecutor)? { surroundings.taskExecutor }

  private let state = Mutex(State())

  /// Makes a connection; without a transport one is asked for at the first request.
  package init(
    container: String, environment: CloudEnvironment = .development,
    transport: (any CloudTransport)?, surroundings: CloudSyncEnvironment = .inForce,
    interception: (any DelegateInterception)? = nil
  ) {
    self.interception = interception
    self.surroundings = surroundings
    self.container = container
    self.environment = environment
    if let transport { adopt(transport) }
  }

  deinit { state.withLock { $0.observation }?.stop() }

  /// The way to the server.
  /// - Throws: `badContainer` when there is none.
  package func transport() throws(CKError) -> any CloudTransport {
    if let transport = state.withLock({ $0.transport }) { return transport }
    return adopt(try surroundings.transport(for: container))
  }

  /// Keeps the first transport offered and listens to it; answers the one that is kept.
  @discardableResult
  private func adopt(_ bare: any CloudTransport) -> any CloudTransport {
    let transport = AssetTransport(bare)
    let kept = state.withLock { state in
      if let earlier = state.transport { return (transport: earlier, isNew: false) }
      state.transport = transport
      return (transport: transport, isNew: true)
    }
    guard kept.isNew else { return kept.transport }
    let observation = transport.observeSignals { [surroundings] signal in
      switch signal {
      case .accountChanged: postAccountChange(in: surroundings)
      case .push, .networkReturned: break
      }
    }
    state.withLock { $0.observation = observation }
    return transport
  }

  /// Carries one request to the server, with a new request ID.
  package func send(
    _ request: CloudRequest, to scope: CKDatabase.Scope
  ) async throws(CKError) -> CloudReply {
    switch try await answer(to: request, in: scope) {
    case .success(let reply): return reply
    case .failure(let error): throw CKError(error)
    }
  }

  /// The answer to one request, sent with a new request ID.
  /// - Throws: `badContainer` when there is no way to the server.
  func answer(
    to request: CloudRequest, in scope: CKDatabase.Scope
  ) async throws(CKError) -> Result<CloudReply, CloudError> {
    let transport = try transport()
    let call = CloudCall(
      container: container, environment: environment, database: scope.value,
      requestID: UUID().uuidString, request: request)
    do {
      return .success(try await transport.send(call))
    } catch {
      return .failure(error)
    }
  }

  /// Who is signed in.
  package func currentUser() async throws(CKError) -> CKRecord.ID {
    let reply = try await send(.fetchCurrentUser, to: .private)
    guard case .currentUser(let user) = reply else { throw CKError.misplaced(reply) }
    return CKRecordID(RecordID(name: user.rawValue, zone: .default))
  }
}

extension CKError {
  /// The server answered another question than was asked.
  package static func misplaced(_ reply: CloudReply) -> CKError {
    let kind = String(describing: reply).prefix { $0 != "(" }
    return CKError(
      .internalError,
      "The server sent an answer of the kind \(kind), which does not belong to the request.")
  }

  /// The server left an item out of its answer.
  package static func unanswered(_ item: some CustomStringConvertible) -> CKError {
    CKError(.internalError, "The server's answer does not mention \(item).")
  }
}
