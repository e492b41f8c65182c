import CloudProtocol
import Synchronization

/// The signals a listener heard.
final class RecordedSignals: Sendable {
  private let signals = Mutex<[CloudSignal]>([])

  var all: [CloudSignal] { signals.withLock { $0 } }

  func note(_ signal: CloudSignal) { signals.withLock { $0.append(signal) } }
}
