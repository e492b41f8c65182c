import CloudProtocol
import Foundation
import Records
import Synchronization
import WebServices

/// Waits for pushes with one request at a time, as long as somebody listens.
///
/// Source: web-services 1.8.
final class PushListener: Sendable {
  private struct Place: Hashable, Sendable {
    var container: String
    var environment: CloudEnvironment
  }

  private struct State {
    var listeners: [(id: Int, call: @Sendable (CloudSignal) -> Void)] = []
    var nextListener = 0
    var places: [Place] = []
    var lines: [Place: Task<Void, Never>] = [:]
    var isStopped = false
  }

  private let session: WebServicesSession
  private let clock: any Clock<Duration>
  private let taskExecutor: (any TaskExecutor)?
  private let state = Mutex(State())

  init(
    _ session: WebServicesSession, clock: any Clock<Duration>, taskExecutor: (any TaskExecutor)?
  ) {
    self.session = session
    self.clock = clock
    self.taskExecutor = taskExecutor
  }

  func add(_ listener: @escaping @Sendable (CloudSignal) -> Void) -> any SignalObservation {
    let id = state.withLock { state in
      state.nextListener += 1
      state.listeners.append((state.nextListener, listener))
      return state.nextListener
    }
    keepLines()
    return Observation(listener: self, id: id)
  }

  fileprivate func remove(_ id: Int) {
    state.withLock { state in state.listeners.removeAll { $0.id == id } }
    keepLines()
  }

  /// Learns of the container that pushes may come from.
  func note(_ call: CloudCall) {
    let place = Place(container: call.container, environment: call.environment)
    let isNew = state.withLock { state in
      guard !state.places.contains(place) else { return false }
      state.places.append(place)
      return true
    }
    if isNew { keepLines() }
  }

  /// Somebody else, or nobody, is signed in: new lines, and everyone is told.
  func accountChanged() {
    let lines = state.withLock { state in
      defer { state.lines = [:] }
      return state.lines
    }
    for line in lines.values { line.cancel() }
    tell(.accountChanged)
    keepLines()
  }

  /// The server can be reached again: everyone is told.
  func networkReturned() { tell(.networkReturned) }

  func stop() {
    let lines = state.withLock { state in
      state.isStopped = true
      state.listeners = []
      defer { state.lines = [:] }
      return state.lines
    }
    for line in lines.values { line.cancel() }
  }

  private func tell(_ signal: CloudSignal) {
    for listener in state.withLock({ $0.listeners }) { listener.call(signal) }
  }

  /// A line to each container while somebody listens and can be signed in, none otherwise.
  private func keepLines() {
    let canWait = session.canSignIn
    let ended = state.withLock { state -> [Task<Void, Never>] in
      guard !state.isStopped, canWait, !state.listeners.isEmpty else {
        defer { state.lines = [:] }
        return Array(state.lines.values)
      }
      for place in state.places where state.lines[place] == nil {
        state.lines[place] = Task(executorPreference: taskExecutor) {
          await self.keepLine(place)
        }
      }
      return []
    }
    for line in ended { line.cancel() }
  }

  // MARK: One line

  /// Waits for pushes of one container, again and again, until cancelled.
  ///
  /// The transport owns the listener and stops it, so the line may hold it.
  private func keepLine(_ place: Place) async {
    var address: String?
    var pause = 1.0
    while !Task.isCancelled {
      do throws(CloudError) {
        if let known = address {
          try await wait(at: known, place)
        } else {
          address = try await open(place)
          // Nobody knows what happened before there was a box for it.
          tellOfGap(place)
        }
        pause = 1
      } catch {
        address = nil
        if error.code == .operationCancelled || Task.isCancelled { return }
        if error.code == .notAuthenticated {
          tell(.accountChanged)
          return
        }
        try? await clock.sleep(for: .seconds(error.retryAfter ?? pause))
        pause = min(30, pause * 2)
      }
    }
  }

  private func call(_ place: Place) -> CloudCall {
    CloudCall(
      container: place.container, environment: place.environment, database: .private,
      requestID: UUID().uuidString, request: .fetchCurrentUser)
  }

  private func open(_ place: Place) async throws(CloudError) -> String {
    let answer = try await session.send(
      .tokensCreate, of: .private,
      .members([
        "apnsEnvironment": .string(place.environment.rawValue),
        "clientId": session.settings.device.map { .string($0) },
      ]), call(place))
    guard let address = answer["webcourierURL"]?.string else {
      throw CloudError(.internalError, "the server did not say where to wait for pushes")
    }
    return address
  }

  private func wait(at address: String, _ place: Place) async throws(CloudError) {
    let answer = try await session.load(address)
    guard answer.status == 200 else {
      throw CloudError(.networkFailure, "the line for pushes ended")
    }
    if answer.body.isEmpty { return }
    guard let json = try? JSON(parsing: answer.body),
      let push = try session.notation(call(place)).push(json)
    else { throw CloudError(.internalError, "a push makes no sense") }
    tell(.push(push))
  }

  /// Tells of a change that may have been, in each database that has pushes.
  private func tellOfGap(_ place: Place) {
    for scope in [DatabaseScope.private, .shared] {
      tell(
        .push(
          CloudPush(
            container: place.container, database: scope, subscription: SubscriptionID(""))))
    }
  }
}

/// Keeps one listener.
private final class Observation: SignalObservation {
  private let listener: PushListener
  private let id: Int

  init(listener: PushListener, id: Int) {
    self.listener = listener
    self.id = id
  }

  deinit { stop() }

  func stop() { listener.remove(id) }
}
