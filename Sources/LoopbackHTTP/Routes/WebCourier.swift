import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import WebServices

/// Delivers pushes to devices over HTTP long polls: the "web courier" of CloudKit Web Services.
///
/// A device's pushes are queued from the moment it gets its courier URL; equal pushes are queued
/// once. A queue that is not read for a while is discarded. A request without a queue, because this
/// process discarded it or another one made the URL, gets one push of each subscription, since
/// others may be lost; so does the first request after the rest of a queue that was full.
///
/// A device answers a push with its next request. If that comes late, the connection may have ended
/// before the push arrived, and the device gets the push once more. Rules: WS-68 to WS-74, WS-170,
/// WS-180, WS-181.
final class WebCourier: Sendable {
  /// A push, and whether it only tells that there may have been one.
  fileprivate struct Delivery {
    var push: CloudPush
    var isReminder = false
  }

  /// A request that waits for a push.
  fileprivate struct Reader {
    var id: Int
    var continuation: CheckedContinuation<Delivery?, Never>
  }

  fileprivate struct Queue {
    var observation: any SignalObservation
    var waiting: [Delivery] = []
    /// Whether a push was dropped because there were too many.
    var hasDropped = false
    /// The last push that answered a request, unless it was a reminder, and when.
    var last: (push: CloudPush, time: Timestamp)?
    /// The request that the next push answers: the newest.
    var reader: Reader?
    /// Older requests that still wait, but get no push, because their clients may be gone.
    ///
    /// If they were answered at once, two clients with one URL would ask in turn without a pause.
    var replaced: [Reader] = []
    var lastRead: Timestamp
  }

  fileprivate struct State {
    var queues: [SignedPath.Owner: Queue] = [:]
    var readers = 0
    /// The unanswered requests, and whether each was ended before it started to wait.
    var hasEnded: [Int: Bool] = [:]
    var isClosed = false
  }

  /// The maximum number of queued pushes; beyond it the oldest are dropped, and one of each
  /// subscription follows the others.
  fileprivate static let capacity = 200
  /// The time in seconds after which the request that follows a push does not show that the push
  /// has arrived.
  fileprivate static let confirmationLimit: Double = 5
  /// The time in seconds for which an unread queue is kept.
  private static let idleLimit: Double = 300
  /// The maximum number of queues; beyond it the least recently read queue is discarded.
  private let maximumQueues: Int

  private let state = Mutex(State())
  private let clock: any Clock<Duration>
  private let wallClock: @Sendable () -> Timestamp
  private let wait: Duration
  private let taskExecutor: (any TaskExecutor)?

  /// Creates a courier whose long polls end after `wait` at the latest.
  init(
    clock: any Clock<Duration>, wallClock: @escaping @Sendable () -> Timestamp,
    wait: Duration = .seconds(25), maximumQueues: Int = 2048,
    taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.taskExecutor = taskExecutor
    self.maximumQueues = maximumQueues
    self.clock = clock
    self.wallClock = wallClock
    self.wait = wait
  }

  /// The number of devices with a queue.
  var queueCount: Int { state.withLock { $0.queues.count } }

  /// The number of pushes in all queues.
  var waitingCount: Int {
    state.withLock { $0.queues.values.reduce(0) { $0 + $1.waiting.count } }
  }

  /// The number of unanswered requests.
  var requestCount: Int { state.withLock { $0.hasEnded.count } }

  /// Starts queueing the pushes for `owner`.
  ///
  /// - Returns: Whether they were not queued before.
  @discardableResult
  func open(_ owner: SignedPath.Owner, _ server: LoopbackServer) -> Bool {
    let now = wallClock()
    guard !state.withLock({ $0.isClosed || $0.queues[owner] != nil }) else { return false }
    let old = state.withLock {
      $0.discardIdleQueues(now, idleLimit: WebCourier.idleLimit, most: maximumQueues)
    }
    for observation in old { observation.stop() }
    let device = server.remoteDevice(owner.device, account: owner.account)
    let observation = device.observeSignals { [weak self] signal in
      guard case .push(let push) = signal,
        push.concerns(owner.container, owner.environment)
      else { return }
      self?.put(Delivery(push: push), for: owner)
    }
    let isSpare = state.withLock { state in
      guard !state.isClosed, state.queues[owner] == nil else { return true }
      state.queues[owner] = Queue(observation: observation, lastRead: now)
      return false
    }
    if isSpare { observation.stop() }
    return !isSpare
  }

  private func put(_ delivery: Delivery, for owner: SignedPath.Owner) {
    let reader = state.withLock { state -> CheckedContinuation<Delivery?, Never>? in
      state.queues[owner]?.put(delivery, wallClock())
    }
    reader?.resume(returning: delivery)
  }

  /// Queues one push of each subscription, because others may have been lost.
  private func remind(_ owner: SignedPath.Owner, _ server: LoopbackServer) throws(CloudError) {
    do throws(CloudError) {
      let pushes = try server.pushes(
        ofSubscriptionsOf: owner.account, container: owner.container, owner.environment)
      for push in pushes { put(Delivery(push: push, isReminder: true), for: owner) }
    } catch {
      // Without the queue, the next request tries it again.
      let queue = state.withLock { $0.queues.removeValue(forKey: owner) }
      queue?.end()
      throw error
    }
  }

  /// Whether a push was dropped, and all that were kept have been read.
  private func takeLoss(_ owner: SignedPath.Owner) -> Bool {
    state.withLock { state in
      guard let queue = state.queues[owner], queue.hasDropped, queue.waiting.isEmpty else {
        return false
      }
      state.queues[owner]?.hasDropped = false
      return true
    }
  }

  /// Waits for the next push for `owner`; the response is empty if none arrives in time.
  func answer(
    _ owner: SignedPath.Owner, _ server: LoopbackServer, isExact: Bool
  ) async -> HTTPResponse {
    if open(owner, server) || takeLoss(owner) {
      do throws(CloudError) { try remind(owner, server) } catch {
        return .failure(503, "TRY_AGAIN_LATER", error.message)
      }
    }
    guard let delivery = await next(owner) else {
      return HTTPResponse(200, fields: [.init(name: "cache-control", value: "no-store")])
    }
    let push = delivery.push
    let notation = Notation(
      container: owner.container, database: push.database,
      user: try? server.user(of: owner.account), isExact: isExact)
    // A reminder has no alert text, because perhaps nothing happened.
    let info =
      delivery.isReminder
      ? nil
      : push.spentInfo
        ?? (try? server.notificationInfo(of: push, account: owner.account, owner.environment))
    return .json(200, notation.json(push, number: UUID().uuidString, info: info))
  }

  private func next(_ owner: SignedPath.Owner) async -> Delivery? {
    let id = state.withLock { state in
      state.readers += 1
      state.hasEnded[state.readers] = false
      return state.readers
    }
    let timer = Task(executorPreference: taskExecutor) { [clock, wait] in
      do { try await clock.sleep(for: wait) } catch { return }
      self.end(id, owner)
    }
    defer { timer.cancel() }
    let delivery = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          state.beginReading(id, owner, continuation, now: wallClock())
        }
        if outcome.isOver { continuation.resume(returning: outcome.delivery) }
      }
    } onCancel: {
      end(id, owner)
    }
    state.withLock { state in
      state.hasEnded[id] = nil
      state.queues[owner]?.lastRead = wallClock()
    }
    return delivery
  }

  /// Ends the wait of a request.
  private func end(_ id: Int, _ owner: SignedPath.Owner) {
    let reader = state.withLock { state -> CheckedContinuation<Delivery?, Never>? in
      guard let reader = state.queues[owner]?.removeReader(id) else {
        // The timer of an answered request needs no entry.
        if state.hasEnded[id] != nil { state.hasEnded[id] = true }
        return nil
      }
      return reader.continuation
    }
    reader?.resume(returning: nil)
  }

  /// Ends all waits and stops queueing.
  func close() {
    let queues = state.withLock { state in
      state.isClosed = true
      defer { state.queues = [:] }
      return Array(state.queues.values)
    }
    for queue in queues { queue.end() }
  }
}

extension WebCourier.State {
  /// The outcome of starting to read a queue.
  fileprivate struct ReadOutcome {
    /// Whether the request is answered without a wait.
    var isOver: Bool
    var delivery: WebCourier.Delivery?
  }

  /// Discards idle queues to make space for a new one; returns their observations.
  fileprivate mutating func discardIdleQueues(
    _ now: Timestamp, idleLimit: Double, most: Int
  ) -> [any SignalObservation] {
    let idle = queues.filter { $0.value.reader == nil && $0.value.replaced.isEmpty }
      .sorted { $0.value.lastRead < $1.value.lastRead }
    let excess = queues.count - most + 1
    let old = idle.enumerated().prefix { index, element in
      let age =
        now.secondsSinceReferenceDate - element.value.lastRead.secondsSinceReferenceDate
      return index < excess || age > idleLimit
    }.map(\.element)
    for element in old { queues[element.key] = nil }
    return old.map(\.value.observation)
  }

  fileprivate mutating func beginReading(
    _ id: Int, _ owner: SignedPath.Owner,
    _ continuation: CheckedContinuation<WebCourier.Delivery?, Never>, now: Timestamp
  ) -> ReadOutcome {
    guard var queue = queues[owner], hasEnded[id] != true else { return ReadOutcome(isOver: true) }
    defer { queues[owner] = queue }
    queue.lastRead = now
    queue.repeatUnconfirmed(now)
    if let delivery = queue.waiting.first {
      queue.waiting.removeFirst()
      queue.noteDelivery(delivery, now)
      return ReadOutcome(isOver: true, delivery: delivery)
    }
    if let reader = queue.reader { queue.replaced.append(reader) }
    queue.reader = WebCourier.Reader(id: id, continuation: continuation)
    return ReadOutcome(isOver: false)
  }
}

extension WebCourier.Queue {
  /// Removes a waiting request, and returns it.
  fileprivate mutating func removeReader(_ id: Int) -> WebCourier.Reader? {
    if let reader, reader.id == id {
      self.reader = nil
      return reader
    }
    return replaced.firstIndex { $0.id == id }.map { replaced.remove(at: $0) }
  }

  /// Ends all waits for the queue, which is discarded.
  fileprivate func end() {
    observation.stop()
    for reader in replaced { reader.continuation.resume(returning: nil) }
    reader?.continuation.resume(returning: nil)
  }

  /// Queues a push; returns the request that it answers instead.
  fileprivate mutating func put(
    _ delivery: WebCourier.Delivery, _ now: Timestamp
  ) -> CheckedContinuation<WebCourier.Delivery?, Never>? {
    if let reader {
      self.reader = nil
      noteDelivery(delivery, now)
      return reader.continuation
    }
    if let place = waiting.firstIndex(where: { $0.push == delivery.push }) {
      if !delivery.isReminder { waiting[place].isReminder = false }
      return nil
    }
    waiting.append(delivery)
    // The number of reminders is that of the subscriptions.
    if !delivery.isReminder, waiting.count > WebCourier.capacity {
      waiting.removeFirst()
      hasDropped = true
    }
    return nil
  }

  /// Notes the push that answers a request.
  fileprivate mutating func noteDelivery(_ delivery: WebCourier.Delivery, _ now: Timestamp) {
    // A reminder is not repeated: a client that always asks late would get it for ever.
    last = delivery.isReminder ? nil : (delivery.push, now)
  }

  /// Queues the last push again, as a reminder, if the request that follows it is late.
  fileprivate mutating func repeatUnconfirmed(_ now: Timestamp) {
    guard let (push, time) = last else { return }
    last = nil
    let age = now.secondsSinceReferenceDate - time.secondsSinceReferenceDate
    guard age > WebCourier.confirmationLimit, !waiting.contains(where: { $0.push == push }) else {
      return
    }
    waiting.insert(WebCourier.Delivery(push: push, isReminder: true), at: 0)
  }
}

extension ServiceRoutes {
  /// Creates the courier URL of a device (`tokens/create`).
  func createToken(_ body: JSON, _ context: ServiceContext) throws(CloudError) -> JSON {
    guard let bearer = context.bearer else {
      throw CloudError(.notAuthenticated, "no account is signed in")
    }
    let apnsEnvironment = try apnsEnvironment(body)
    var owner = owner(context)
    if !context.isDeviceNamed { owner.device = try newDeviceName(body, context) }
    try server.expectDevice(of: bearer.account)
    courier.open(owner, server)
    let path = SignedPath.courier(owner).path(tokens.signer)
    return .members([
      "apnsEnvironment": .string(apnsEnvironment),
      "apnsToken": .string(tokens.signer.digest(for: path)),
      "webcourierURL": .string(baseURL + path),
    ])
  }
}
