import CloudProtocol
import CloudSync

/// A way to the server that counts what goes along it.
final class CountedTransport: CloudTransport {
  private let inner: WebServicesTransport
  private let writes: AcknowledgedWrites

  init(_ inner: WebServicesTransport, _ writes: AcknowledgedWrites) {
    self.inner = inner
    self.writes = writes
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    writes.count(.requests)
    do throws(CloudError) {
      return try await inner.send(call)
    } catch {
      writes.count(.failedRequests)
      throw error
    }
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    inner.observeSignals { [writes] signal in
      writes.count(.pushes)
      listener(signal)
    }
  }
}
