import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import WebServices

/// Brings pushes to devices that wait for them with a request each.
///
/// A device's box is filled from the moment it was given its address; equal pushes wait once. A
/// box that nobody empties for a while is thrown away. Source: web-services 1.8.
final class Courier: Sendable {
  fileprivate struct Box {
    var observation: any SignalObservation
    var waiting: [CloudPush] = []
    /// The one request that waits; a newer one takes its place.
    var reader: (id: Int, continuation: CheckedContinuation<CloudPush?, Never>)?
    var lastRead: Timestamp
  }

  fileprivate struct State {
    var boxes: [Ticket.Holder: Box] = [:]
    var readers = 0
    /// The requests that are not answered, and whether their end came before they began to wait.
    var hasEnded: [Int: Bool] = [:]
    var isClosed = false
  }

  /// How many pushes wait at most; of more, which are only hints, the oldest go.
  private static let room = 200
  /// How many seconds a box is kept that nobody empties.
  private static let patience: Double = 300
  /// How many boxes there are at most; for one more, the one that was not emptied for longest goes.
  private let mostBoxes: Int

  private let state = Mutex(State())
  private let clock: any Clock<Duration>
  private let wallClock: @Sendable () -> Timestamp
  private let wait: Duration
  private let taskExecutor: (any TaskExecutor)?

  /// A courier that answers a waiting device after `wait` of `clock`, push or no push.
  init(
    clock: any Clock<Duration>, wallClock: @escaping @Sendable () -> Timestamp,
    wait: Duration = .seconds(25), mostBoxes: Int = 2048, taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.taskExecutor = taskExecutor
    self.mostBoxes = mostBoxes
    self.clock = clock
    self.wallClock = wallClock
    self.wait = wait
  }

  /// How many devices have a box.
  var boxCount: Int { state.withLock { $0.boxes.count } }

  /// How many requests are not answered.
  var requestCount: Int { state.withLock { $0.hasEnded.count } }

  /// Has pushes for `holder` collected from now on.
  func open(_ holder: Ticket.Holder, _ server: LoopbackServer) {
    let now = wallClock()
    guard !state.withLock({ $0.isClosed || $0.boxes[holder] != nil }) else { return }
    let old = state.withLock { $0.throwAway(now, patience: Courier.patience, most: mostBoxes) }
    for observation in old { observation.stop() }
    let device = server.remoteDevice(holder.device, account: holder.account)
    let container = holder.container
    let observation = device.observeSignals { [weak self] signal in
      guard case .push(let push) = signal, push.container == container else { return }
      self?.put(push, for: holder)
    }
    let isSpare = state.withLock { state in
      guard !state.isClosed, state.boxes[holder] == nil else { return true }
      state.boxes[holder] = Box(observation: observation, lastRead: now)
      return false
    }
    if isSpare { observation.stop() }
  }

  private func put(_ push: CloudPush, for holder: Ticket.Holder) {
    let reader = state.withLock { state -> CheckedContinuation<CloudPush?, Never>? in
      guard let box = state.boxes[holder] else { return nil }
      if let reader = box.reader {
        state.boxes[holder]?.reader = nil
        return reader.continuation
      }
      guard !box.waiting.contains(push) else { return nil }
      state.boxes[holder]?.waiting.append(push)
      if box.waiting.count >= Courier.room { state.boxes[holder]?.waiting.removeFirst() }
      return nil
    }
    reader?.resume(returning: push)
  }

  /// The next push for `holder`, or an empty answer after a while.
  func answer(
    _ holder: Ticket.Holder, _ server: LoopbackServer, isExact: Bool
  ) async -> HTTPResponse {
    open(holder, server)
    guard let push = await next(holder) else {
      return HTTPResponse(200, fields: [.init(name: "cache-control", value: "no-store")])
    }
    let notation = Notation(
      container: holder.container, database: push.database,
      user: try? server.user(of: holder.account), isExact: isExact)
    let info = try? server.notificationInfo(of: push, account: holder.account, holder.environment)
    return .json(200, notation.json(push, number: UUID().uuidString, info: info ?? nil))
  }

  private func next(_ holder: Ticket.Holder) async -> CloudPush? {
    let id = state.withLock { state in
      state.readers += 1
      state.hasEnded[state.readers] = false
      return state.readers
    }
    let timer = Task(executorPreference: taskExecutor) { [clock, wait] in
      do { try await clock.sleep(for: wait) } catch { return }
      self.end(id, holder)
    }
    defer { timer.cancel() }
    let push = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          state.beginReading(id, holder, continuation, now: wallClock())
        }
        outcome.replaced?.resume(returning: nil)
        if outcome.isOver { continuation.resume(returning: outcome.push) }
      }
    } onCancel: {
      end(id, holder)
    }
    state.withLock { state in
      state.hasEnded[id] = nil
      state.boxes[holder]?.lastRead = wallClock()
    }
    return push
  }

  /// Lets a request wait no longer.
  private func end(_ id: Int, _ holder: Ticket.Holder) {
    let reader = state.withLock { state -> CheckedContinuation<CloudPush?, Never>? in
      guard let reader = state.boxes[holder]?.reader, reader.id == id else {
        // The timer of a request that is answered comes too late to be remembered.
        if state.hasEnded[id] != nil { state.hasEnded[id] = true }
        return nil
      }
      state.boxes[holder]?.reader = nil
      return reader.continuation
    }
    reader?.resume(returning: nil)
  }

  /// Ends all waiting and collects no more.
  func close() {
    let boxes = state.withLock { state in
      state.isClosed = true
      defer { state.boxes = [:] }
      return Array(state.boxes.values)
    }
    for box in boxes {
      box.observation.stop()
      box.reader?.continuation.resume(returning: nil)
    }
  }
}

extension Courier.State {
  /// What a request finds when it begins to wait.
  struct Beginning {
    /// Whether it need not wait.
    var isOver: Bool
    var push: CloudPush?
    /// The request whose place it took.
    var replaced: CheckedContinuation<CloudPush?, Never>?
  }

  /// Makes room for a box; what was thrown away for it.
  fileprivate mutating func throwAway(
    _ now: Timestamp, patience: Double, most: Int
  ) -> [any SignalObservation] {
    let idle = boxes.filter { $0.value.reader == nil }
      .sorted { $0.value.lastRead < $1.value.lastRead }
    let excess = boxes.count - most + 1
    let old = idle.enumerated().prefix { index, element in
      let age =
        now.secondsSinceReferenceDate - element.value.lastRead.secondsSinceReferenceDate
      return index < excess || age > patience
    }.map(\.element)
    for element in old { boxes[element.key] = nil }
    return old.map(\.value.observation)
  }

  fileprivate mutating func beginReading(
    _ id: Int, _ holder: Ticket.Holder, _ continuation: CheckedContinuation<CloudPush?, Never>,
    now: Timestamp
  ) -> Beginning {
    guard let box = boxes[holder], hasEnded[id] != true else { return Beginning(isOver: true) }
    boxes[holder]?.lastRead = now
    if let push = box.waiting.first {
      boxes[holder]?.waiting.removeFirst()
      return Beginning(isOver: true, push: push)
    }
    boxes[holder]?.reader = (id, continuation)
    return Beginning(isOver: false, replaced: box.reader?.continuation)
  }
}

extension ServiceRoutes {
  /// Gives a device the address at which it waits for pushes.
  func courierTicket(_ body: JSON, _ visit: Visit) throws(CloudError) -> JSON {
    guard visit.bearer != nil else {
      throw CloudError(.notAuthenticated, "no account is signed in")
    }
    var holder = holder(visit)
    if let name = try body.optionalText("clientId"), visit.deviceName == "web" {
      guard (1...255).contains(name.utf8.count) else {
        throw .malformed("a 'clientId' needs 1 to 255 bytes")
      }
      holder.device = name
    }
    courier.open(holder, server)
    let path = Ticket.courier(holder).path(tokens.seal)
    return .members([
      "apnsEnvironment": .string(try body.optionalText("apnsEnvironment") ?? "development"),
      "apnsToken": .string(tokens.seal.digits(for: path)),
      "webcourierURL": .string(baseURL + path),
    ])
  }
}
