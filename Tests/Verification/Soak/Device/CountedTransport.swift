import CloudProtocol
import CloudSync

/// A way to the server that counts what goes along it.
final class CountedTransport: CloudTransport {
  private let inner: WebServicesTransport
  private let ledger: Ledger

  init(_ inner: WebServicesTransport, _ ledger: Ledger) {
    self.inner = inner
    self.ledger = ledger
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    ledger.count(.requests)
    do throws(CloudError) {
      return try await inner.send(call)
    } catch {
      ledger.count(.failedRequests)
      throw error
    }
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    inner.observeSignals { [ledger] signal in
      ledger.count(.pushes)
      listener(signal)
    }
  }
}
