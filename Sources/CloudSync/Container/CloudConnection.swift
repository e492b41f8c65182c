package import CloudProtocol
import Foundation
import Records
import Synchronization

/// The transport that a container and its databases share, and its observation.
package final class CloudConnection: Sendable {
  private struct State {
    var transport: (any CloudTransport)?
    var observation: (any SignalObservation)?
  }

  /// The environment that supplies the transport if none was given.
  private let surroundings: CloudSyncEnvironment

  /// The identifier of the container.
  package let container: String

  /// The environment of the container.
  package let environment: CloudEnvironment

  /// The interception of delegate calls; `nil` except in tests.
  package let interception: (any DelegateInterception)?

  /// The executor of the container's tasks; `nil` for the default one.
  package var taskExecutor: (any TaskExecutor)? { surroundings.taskExecutor }

  /// The clock of the container's engines; `nil` for the continuous one.
  var clock: (any Clock<Duration>)? { surroundings.clock }

  private let state = Mutex(State())

  /// Creates a connection; without a transport, the environment supplies one at the first request.
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

  /// The transport to the server.
  /// - Throws: `badContainer` when there is none.
  package func transport() throws(CKError) -> any CloudTransport {
    if let transport = state.withLock({ $0.transport }) { return transport }
    return adopt(try surroundings.transport(for: container))
  }

  /// Stores the first transport and observes its signals; returns the stored one.
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

  /// Sends a request with a new request ID.
  package func send(
    _ request: CloudRequest, to scope: CKDatabase.Scope
  ) async throws(CKError) -> CloudReply {
    switch try await answer(to: request, in: scope) {
    case .success(let reply): return reply
    case .failure(let error): throw CKError(error)
    }
  }

  /// Sends a request with a new request ID and returns the reply.
  /// - Throws: `badContainer` when there is no transport.
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

  /// The signed-in user.
  package func currentUser() async throws(CKError) -> CKRecord.ID {
    let reply = try await send(.fetchCurrentUser, to: .private)
    guard case .currentUser(let user) = reply else { throw CKError.misplaced(reply) }
    return CKRecordID(RecordID(name: user.rawValue, zone: .default))
  }
}

extension CKError {
  /// The error for a reply of an unexpected kind.
  package static func misplaced(_ reply: CloudReply) -> CKError {
    let kind = String(describing: reply).prefix { $0 != "(" }
    return CKError(
      .internalError,
      "The server sent an answer of the kind \(kind), which does not belong to the request.")
  }

  /// The error for an item missing from a reply.
  package static func unanswered(_ item: some CustomStringConvertible) -> CKError {
    CKError(.internalError, "The server's answer does not mention \(item).")
  }
}
