import CloudProtocol
import Synchronization

/// What a device or the server hands to the network.
enum Parcel: Sendable {
  /// A request of a device's run.
  case request(CloudCall, device: Int, run: Int, number: Int)
  /// The server's answer to a request.
  case answer(Result<CloudReply, CloudError>, device: Int, run: Int, number: Int)
  /// A push for a device where this account is signed in.
  case push(CloudPush, device: Int, account: Int)
  /// Something was done about a share, which concerns these accounts.
  case shared(SharingAction, zone: Int, accounts: [Int])
}

/// Where tasks leave what the network is to carry, until the world takes it.
final class Mailbox: Sendable {
  private let parcels = Mutex<[Parcel]>([])

  /// Leaves something.
  func put(_ parcel: Parcel) { parcels.withLock { $0.append(parcel) } }

  /// Takes everything, in the order it was left.
  func take() -> [Parcel] {
    parcels.withLock { parcels in
      guard !parcels.isEmpty else { return [] }
      defer { parcels.removeAll(keepingCapacity: true) }
      return parcels
    }
  }
}

/// The way of one run of a device to the cloud: everything goes through the world's network.
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
  private let mailbox: Mailbox
  private let contents = Mutex(Contents())

  init(device: Int, run: Int, mailbox: Mailbox) {
    self.device = device
    self.run = run
    self.mailbox = mailbox
  }

  /// How many requests wait for an answer.
  var openCount: Int { contents.withLock { $0.waiting.count } }

  /// How many listen to signals.
  var listenerCount: Int { contents.withLock { $0.listeners.count } }

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
        mailbox.put(.request(call, device: device, run: run, number: number))
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

  /// Brings an answer; answers whether anybody waited for it.
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

  /// Whether somebody waits for the answer to a request.
  func isOpen(_ number: Int) -> Bool {
    contents.withLock { contents in contents.waiting.contains { $0.number == number } }
  }

  /// Tells the listeners of a signal.
  func tell(_ signal: CloudSignal) {
    for listener in contents.withLock({ $0.listeners }) { listener.call(signal) }
  }

  /// Cuts the run off from the world: it is dead and only has not noticed.
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
