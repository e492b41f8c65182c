import CloudProtocol
import Synchronization

/// A request, a reply or a push that the network carries.
enum NetworkItem: Sendable {
  /// A request of a device's run.
  case request(CloudCall, from: Message.Sender)
  /// The server's answer to a request.
  case answer(Result<CloudReply, CloudError>, to: Message.Sender)
  /// A push for a device where this account is signed in.
  case push(CloudPush, device: Int, account: Int)
  /// Something was done about a share, which concerns these accounts.
  case shared(SharingAction, zone: Int, accounts: [Int])
}

/// The items that tasks pass to the network, until the world takes them.
final class NetworkQueue: Sendable {
  private let items = Mutex<[NetworkItem]>([])

  /// Leaves something.
  func put(_ item: NetworkItem) { items.withLock { $0.append(item) } }

  /// Takes everything, in the order it was left.
  func take() -> [NetworkItem] {
    items.withLock { items in
      guard !items.isEmpty else { return [] }
      defer { items.removeAll(keepingCapacity: true) }
      return items
    }
  }
}

/// The transport of one run of a device; all requests pass through the simulated network.
final class SimulatedLink: CloudTransport {
  private typealias Answer = Result<CloudReply, CloudError>

  private struct Contents {
    var lastNumber = 0
    var waiting: [(number: Int, continuation: CheckedContinuation<Answer, Never>)] = []
    var cancelled: Set<Int> = []
    var listeners: [(id: Int, call: @Sendable (CloudSignal) -> Void)] = []
    var lastListener = 0
    var isSevered = false
  }

  private let device: Int
  private let run: Int
  private let networkQueue: NetworkQueue
  private let contents = Mutex(Contents())

  init(device: Int, run: Int, networkQueue: NetworkQueue) {
    self.device = device
    self.run = run
    self.networkQueue = networkQueue
  }

  /// The number of requests without an answer.
  var openCount: Int { contents.withLock { $0.waiting.count } }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let number = contents.withLock { contents in
      contents.lastNumber += 1
      return contents.lastNumber
    }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = contents.withLock { contents in
          if contents.isSevered || contents.cancelled.remove(number) != nil { return true }
          contents.waiting.append((number, continuation))
          return false
        }
        if isOver { return continuation.resume(returning: Self.gone) }
        let sender = Message.Sender(device: device, run: run, number: number)
        networkQueue.put(.request(call, from: sender))
      }
    } onCancel: {
      let continuation = contents.withLock { contents -> CheckedContinuation<Answer, Never>? in
        guard let index = contents.waiting.firstIndex(where: { $0.number == number }) else {
          contents.cancelled.insert(number)
          return nil
        }
        return contents.waiting.remove(at: index).continuation
      }
      continuation?.resume(returning: Self.gone)
    }
    return try answer.get()
  }

  private static let gone = Answer.failure(
    CloudError(.operationCancelled, "nobody waits for the answer any more"))

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    let id = contents.withLock { contents in
      contents.lastListener += 1
      contents.listeners.append((contents.lastListener, listener))
      return contents.lastListener
    }
    return Observation(link: self, id: id)
  }

  private final class Observation: SignalObservation {
    private let link: SimulatedLink
    private let id: Int

    init(link: SimulatedLink, id: Int) {
      self.link = link
      self.id = id
    }

    deinit { stop() }

    func stop() {
      link.contents.withLock { contents in contents.listeners.removeAll { $0.id == id } }
    }
  }

  // MARK: What the world does

  /// Delivers an answer; returns whether a request waited for it.
  func answer(_ number: Int, with result: Result<CloudReply, CloudError>) -> Bool {
    let continuation = contents.withLock { contents -> CheckedContinuation<Answer, Never>? in
      guard let index = contents.waiting.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      return contents.waiting.remove(at: index).continuation
    }
    continuation?.resume(returning: result)
    return continuation != nil
  }

  /// Whether a request waits for its answer.
  func isOpen(_ number: Int) -> Bool {
    contents.withLock { contents in contents.waiting.contains { $0.number == number } }
  }

  /// Sends a signal to the listeners.
  func tell(_ signal: CloudSignal) {
    for listener in contents.withLock({ $0.listeners }) { listener.call(signal) }
  }

  /// Disconnects the run from the world after its end.
  func sever() {
    let waiting = contents.withLock { contents in
      contents.isSevered = true
      contents.listeners = []
      defer { contents.waiting = [] }
      return contents.waiting
    }
    for (_, continuation) in waiting { continuation.resume(returning: Self.gone) }
  }
}
