import CloudProtocol
import Synchronization

/// A transport that answers from a script and keeps what it was asked.
final class ScriptedTransport: CloudTransport {
  typealias Answer = @Sendable (CloudRequest) throws(CloudError) -> CloudReply

  private struct State {
    var calls: [CloudCall] = []
    var listeners: [@Sendable (CloudSignal) -> Void] = []
    var stopped = 0
  }

  private let state = Mutex(State())
  private let answer: Answer

  init(_ answer: @escaping Answer) { self.answer = answer }

  var calls: [CloudCall] { state.withLock { $0.calls } }
  var stopped: Int { state.withLock { $0.stopped } }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    state.withLock { $0.calls.append(call) }
    return try answer(call.request)
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    state.withLock { $0.listeners.append(listener) }
    return Observation(transport: self)
  }

  func signal(_ signal: CloudSignal) {
    for listener in state.withLock({ $0.listeners }) { listener(signal) }
  }

  private struct Observation: SignalObservation {
    let transport: ScriptedTransport
    func stop() { transport.state.withLock { $0.stopped += 1 } }
  }
}
