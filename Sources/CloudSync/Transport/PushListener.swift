import CloudProtocol
import Foundation
import Records
import SyncMachine
import Synchronization
import WebServices

/// Receives pushes by long polling, with one request at a time for each container, while there are
/// listeners.
final class PushListener: Sendable {
  private struct PushSource: Hashable, Sendable {
    var container: String
    var environment: CloudEnvironment
  }

  private struct State {
    var sources: [PushSource] = []
    var polls: [PushSource: Task<Void, Never>] = [:]
    var isStopped = false
  }

  private let session: WebServicesSession
  private let clock: any Clock<Duration>
  private let taskExecutor: (any TaskExecutor)?
  private let state = Mutex(State())
  private let listeners = SignalListeners()

  init(
    _ session: WebServicesSession, clock: any Clock<Duration>, taskExecutor: (any TaskExecutor)?
  ) {
    self.session = session
    self.clock = clock
    self.taskExecutor = taskExecutor
  }

  func add(_ listener: @escaping @Sendable (CloudSignal) -> Void) -> any SignalObservation {
    defer { updatePolling() }
    return listeners.add(listener) { [weak self] in self?.updatePolling() }
  }

  /// Registers the container of a call as a source of pushes.
  func note(_ call: CloudCall) {
    let source = PushSource(container: call.container, environment: call.environment)
    let isNew = state.withLock { state in
      guard !state.sources.contains(source) else { return false }
      state.sources.append(source)
      return true
    }
    if isNew { updatePolling() }
  }

  /// Restarts polling for another account, or none, and notifies the listeners.
  func accountChanged() {
    let polls = state.withLock { state in
      defer { state.polls = [:] }
      return state.polls
    }
    for poll in polls.values { poll.cancel() }
    listeners.notify(.accountChanged)
    updatePolling()
  }

  /// Notifies the listeners that the server can be reached again.
  func networkReturned() { listeners.notify(.networkReturned) }

  func stop() {
    listeners.removeAll()
    let polls = state.withLock { state in
      state.isStopped = true
      defer { state.polls = [:] }
      return state.polls
    }
    for poll in polls.values { poll.cancel() }
  }

  /// Polls each container while there are listeners and an account can be signed in.
  private func updatePolling() {
    let canWait = session.canSignIn
    let ended = state.withLock { state -> [Task<Void, Never>] in
      guard !state.isStopped, canWait, !listeners.isEmpty else {
        defer { state.polls = [:] }
        return Array(state.polls.values)
      }
      for source in state.sources where state.polls[source] == nil {
        // Not a part of the task whose call was the first.
        state.polls[source] = Task.detached(executorPreference: taskExecutor) {
          await self.poll(source)
        }
      }
      return []
    }
    for poll in ended { poll.cancel() }
  }

  // MARK: Polling

  /// Waits for pushes of one container, again and again, until cancelled.
  ///
  /// The transport owns and stops this object, so the task may retain it.
  private func poll(_ source: PushSource) async {
    var schedule = PollSchedule()
    while !Task.isCancelled {
      do throws(CloudError) {
        switch schedule.step {
        case .open:
          schedule.opened(at: try await open(source))
          reportPossibleGap(source)
        case .wait(let address):
          let (hasPush, time) = try await clock.timed { () async throws(CloudError) in
            try await wait(at: address, source)
          }
          if hasPush { schedule.received() } else { schedule.receivedNothing(after: time) }
        case .pause(let time):
          try? await clock.sleep(for: time)
          schedule.paused()
        case .end(let accountChanged):
          if accountChanged { listeners.notify(.accountChanged) }
          return
        }
      } catch {
        schedule.failed(error)
      }
    }
  }

  private func call(_ source: PushSource) -> CloudCall {
    CloudCall(
      container: source.container, environment: source.environment, database: .private,
      requestID: UUID().uuidString, request: .fetchCurrentUser)
  }

  private func open(_ source: PushSource) async throws(CloudError) -> String {
    let answer = try await session.send(
      .tokensCreate, of: .private,
      .members([
        "apnsEnvironment": .string(source.environment.rawValue),
        "clientId": .string(session.settings.device),
      ]), call(source), since: session.epoch)
    guard let address = answer["webcourierURL"]?.string else {
      throw CloudError(.internalError, "the server sent no URL for pushes")
    }
    return address
  }

  /// Waits for a push, and reports it; `false` if the service ended the request without one.
  private func wait(at address: String, _ source: PushSource) async throws(CloudError) -> Bool {
    let answer = try await session.waitForPush(at: address)
    guard answer.status == 200 else {
      throw CloudError(
        .networkFailure, "the connection for pushes was closed",
        retryAfter: WebServicesSession.retryAfter(answer))
    }
    if answer.body.isEmpty { return false }
    guard let json = try? JSON(parsing: answer.body),
      var push = try session.notation(call(source)).push(json)
    else { throw CloudError(.internalError, "a push cannot be decoded") }
    push.environment = source.environment
    listeners.notify(.push(push))
    return true
  }

  /// Reports a possible change in each database that has pushes.
  private func reportPossibleGap(_ source: PushSource) {
    for scope in [DatabaseScope.private, .shared, .public] {
      listeners.notify(
        .push(
          CloudPush(
            container: source.container, database: scope, subscription: SubscriptionID(""),
            environment: source.environment)))
    }
  }
}

extension Clock<Duration> {
  /// The value of `body`, and how long it took.
  fileprivate func timed<Value>(
    _ body: () async throws(CloudError) -> Value
  ) async throws(CloudError) -> (Value, Duration) {
    let start = now
    let value = try await body()
    return (value, start.duration(to: now))
  }
}
