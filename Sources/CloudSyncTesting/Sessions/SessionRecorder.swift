public import CloudProtocol
public import Foundation
import Synchronization

/// A transport that records all calls and signals of another transport in a file.
///
/// `SessionReplay` replays the file without a server.
///
/// ```swift
/// let recorder = try SessionRecorder(transport, file: url)
/// let container = CKContainer(identifier: "iCloud.com.example.app", transport: recorder)
/// ```
///
/// The file is text, with a line for each call, reply and signal, in order. It contains the content
/// of records: review it before you commit it. It can be used from any thread.
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

  /// Creates a recorder for `base` with a new file, replacing an existing one.
  ///
  /// - Throws: the error of creating the file.
  public init(_ base: any CloudTransport, file url: URL) throws {
    self.base = base
    try Data().write(to: url)
    contents = Mutex(Contents(file: try FileHandle(forWritingTo: url)))
    contents.withLock { $0.write(SessionLine(format: SessionLine.currentFormat)) }
  }

  /// Closes the file; later calls are not recorded.
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

  /// Sends `call` and records it with its reply.
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

  /// Forwards signals; each is recorded once, whatever the number of listeners.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    let observation = listeners.add(listener)
    // One observation for all listeners, from the first one on.
    self.observation.withLock { observation in
      if observation == nil { observation = base.observeSignals { [weak self] in self?.note($0) } }
    }
    return observation
  }

  private let listeners = SignalListeners()
  private let observation = Mutex<(any SignalObservation)?>(nil)

  private func note(_ signal: CloudSignal) {
    guard !listeners.isEmpty else { return }
    defer { listeners.notify(signal) }
    contents.withLock { contents in
      switch signal {
      case .push(let push): contents.write(SessionLine(push: push))
      case .accountChanged: contents.write(SessionLine(accountChanged: true))
      case .networkReturned: contents.write(SessionLine(networkReturned: true))
      }
    }
  }
}
