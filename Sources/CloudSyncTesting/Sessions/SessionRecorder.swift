public import CloudProtocol
public import Foundation
import Synchronization

/// Stands before a transport and writes all that passes into one file, from which `SessionReplay`
/// gives the same answers without any server.
///
/// ```swift
/// let recorder = try SessionRecorder(transport, file: url)
/// let container = CKContainer(identifier: "iCloud.com.example.app", transport: recorder)
/// ```
///
/// The file is text, one line for each call, answer and signal, in the order in which they passed.
/// It holds the content of records: look at it before you commit it. May be used from any thread.
public final class SessionRecorder: CloudTransport {
  private struct Contents {
    var file: FileHandle
    var lastCall = 0
    var failure: SessionError?

    mutating func write(_ line: SessionLine) {
      guard failure == nil else { return }
      do {
        try file.write(contentsOf: SessionLine.encoder.encode(line) + [0x0a])
      } catch {
        failure = SessionError(description: "The session can't be recorded any further: \(error)")
      }
    }
  }

  private let base: any CloudTransport
  private let contents: Mutex<Contents>

  /// Records what passes through `base` into a new file, in place of one that is there.
  ///
  /// - Throws: what opening the file throws.
  public init(_ base: any CloudTransport, file url: URL) throws {
    self.base = base
    try Data().write(to: url)
    contents = Mutex(Contents(file: try FileHandle(forWritingTo: url)))
    contents.withLock { $0.write(SessionLine(format: SessionLine.currentFormat)) }
  }

  /// Closes the file; what passes from now on is not recorded.
  ///
  /// - Throws: `SessionError` when something could not be written.
  public func finish() throws {
    let failure = contents.withLock { contents in
      defer { contents.failure = SessionError(description: "The session was finished before.") }
      if contents.failure == nil { try? contents.file.close() }
      return contents.failure
    }
    if let failure { throw failure }
  }

  /// Carries `call` to the server, and writes it and its answer down.
  public func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let number = contents.withLock { contents in
      contents.lastCall += 1
      contents.write(SessionLine(call: contents.lastCall, sent: call))
      return contents.lastCall
    }
    do throws(CloudError) {
      let reply = try await base.send(call)
      contents.withLock { $0.write(SessionLine(call: number, reply: reply)) }
      return reply
    } catch {
      contents.withLock { $0.write(SessionLine(call: number, error: error)) }
      throw error
    }
  }

  /// Passes signals on; each is written down once, however many listen.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    let isFirst = hasListener.withLock { hasListener in
      defer { hasListener = true }
      return !hasListener
    }
    return base.observeSignals { [weak self] signal in
      if isFirst { self?.note(signal) }
      listener(signal)
    }
  }

  private let hasListener = Mutex(false)

  private func note(_ signal: CloudSignal) {
    contents.withLock { contents in
      switch signal {
      case .push(let push): contents.write(SessionLine(push: push))
      case .accountChanged: contents.write(SessionLine(accountChanged: true))
      case .networkReturned: contents.write(SessionLine(networkReturned: true))
      }
    }
  }
}
