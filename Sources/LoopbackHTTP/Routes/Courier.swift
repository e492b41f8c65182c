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
    /// Requests whose end came before they began to wait.
    var ended: Set<Int> = []
    var isClosed = false
  }

  /// How many pushes wait at most; of more, which are only hints, the oldest go.
  private static let room = 200
  /// How many seconds a box is kept that nobody empties.
  private static let patience: Double = 300

  private let state = Mutex(State())
  private let clock: any Clock<Duration>
  private let wallClock: @Sendable () -> Timestamp
  private let wait: Duration

  /// A courier that answers a waiting device after `wait` of `clock`, push or no push.
  init(
    clock: any Clock<Duration>, wallClock: @escaping @Sendable () -> Timestamp,
    wait: Duration = .seconds(25)
  ) {
    self.clock = clock
    self.wallClock = wallClock
    self.wait = wait
  }

  /// How many devices have a box.
  var boxCount: Int { state.withLock { $0.boxes.count } }

  /// Has pushes for `holder` collected from now on.
  func open(_ holder: Ticket.Holder, _ server: LoopbackServer) {
    let now = wallClock()
    let old = state.withLock { state in
      let old = state.boxes.filter { element in
        element.value.reader == nil
          && now.secondsSinceReferenceDate - element.value.lastRead.secondsSinceReferenceDate
            > Courier.patience
      }
      for holder in old.keys { state.boxes[holder] = nil }
      return old.values.map(\.observation)
    }
    for observation in old { observation.stop() }
    guard !state.withLock({ $0.isClosed || $0.boxes[holder] != nil }) else { return }
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
  func answer(_ holder: Ticket.Holder, _ server: LoopbackServer) async -> HTTPResponse {
    open(holder, server)
    guard let push = await next(holder) else {
      return HTTPResponse(200, fields: [.init(name: "cache-control", value: "no-store")])
    }
    let notation = Notation(
      container: holder.container, database: push.database,
      user: try? server.user(of: holder.account))
    let info = try? server.notificationInfo(of: push, account: holder.account, holder.environment)
    return .json(200, notation.json(push, number: UUID().uuidString, info: info ?? nil))
  }

  private func next(_ holder: Ticket.Holder) async -> CloudPush? {
    let id = state.withLock { state in
      state.readers += 1
      return state.readers
    }
    let timer = Task { [clock, wait] in
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
      state.ended.remove(id)
      state.boxes[holder]?.lastRead = wallClock()
    }
    return push
  }

  /// Lets a request wait no longer.
  private func end(_ id: Int, _ holder: Ticket.Holder) {
    let reader = state.withLock { state -> CheckedContinuation<CloudPush?, Never>? in
      guard let reader = state.boxes[holder]?.reader, reader.id == id else {
        state.ended.insert(id)
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

  fileprivate mutating func beginReading(
    _ id: Int, _ holder: Ticket.Holder, _ continuation: CheckedContinuation<CloudPush?, Never>,
    now: Timestamp
  ) -> Beginning {
    guard let box = boxes[holder], !ended.contains(id) else { return Beginning(isOver: true) }
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
