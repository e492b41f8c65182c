import CloudSync
import CommandLineKit
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request whose transfer is shown: the bytes sent, then the server's work, then the bytes
/// received.
final class Transfer: NSObject, URLSessionDataDelegate, Sendable {
  /// The texts of the progress line.
  struct Words: Sendable {
    /// The text between the request and its response.
    var waiting: String
    /// The verb for the bytes of the response.
    var received = "received"
  }

  private struct State {
    var sent: ByteProgress
    var received: ByteProgress?
    var response: URLResponse?
    var body = Data()
    var continuation: CheckedContinuation<(Data, URLResponse), any Error>?
  }

  private let words: Words
  private let output: Output
  private let state: Mutex<State>

  private init(_ words: Words, bodyCount: Int, _ output: Output) {
    self.words = words
    self.output = output
    var sent = ByteProgress("sent", of: bodyCount, output)
    if bodyCount == 0 { sent.show(words.waiting) }
    state = Mutex(State(sent: sent))
  }

  /// Sends a request, shows the progress, and returns the response.
  ///
  /// Throws the session's error if there is no response.
  static func answer(
    to request: URLRequest, _ words: Words, configuration: URLSessionConfiguration,
    _ output: Output
  ) async throws -> (Data, URLResponse) {
    let transfer = Transfer(words, bodyCount: request.httpBody?.count ?? 0, output)
    let session = URLSession(configuration: configuration, delegate: transfer, delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    return try await withCheckedThrowingContinuation { continuation in
      transfer.state.withLock { $0.continuation = continuation }
      session.dataTask(with: request.connectable).resume()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    state.withLock { state in
      state.sent.add(Int(bytesSent))
      if totalBytesSent >= totalBytesExpectedToSend { state.sent.show(words.waiting) }
    }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let length = response.expectedContentLength
    state.withLock { state in
      state.response = response
      state.received = ByteProgress(
        words.received, of: length >= 0 ? Int(length) : nil, output)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { state in
      state.body += data
      state.received?.add(data.count)
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let (state, continuation) = state.withLock { state in
      state.received?.end()
      state.sent.end()
      defer { state.continuation = nil }
      return (state, state.continuation)
    }
    if let response = state.response, error == nil {
      continuation?.resume(returning: (state.body, response))
    } else {
      continuation?.resume(throwing: error ?? URLError(.badServerResponse))
    }
  }
}
