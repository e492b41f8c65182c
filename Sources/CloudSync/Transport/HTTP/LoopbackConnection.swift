import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A connection to a server on this machine, used by one thread.
struct LoopbackConnection {
  private let timeout: Int32
  private var socket: (descriptor: Int32, address: LoopbackAddress)?
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(timeout: Int32) { self.timeout = timeout }

  /// Performs a request and finishes it with the response or an error.
  mutating func perform(_ request: LoopbackRequest) {
    guard !request.pending.isFinished else { return }
    if let socket, socket.address != request.address || LoopbackSocket.isStale(socket.descriptor) {
      close()
    }
    let isReused = socket != nil
    var outcome = attempt(request)
    // The server closed a reused connection before it read any byte: try again on a new one.
    if isReused, case .failure(.notSent) = outcome { outcome = attempt(request) }
    request.pending.finish(outcome.mapError { URLError($0.code) })
  }

  /// Closes the connection.
  mutating func close() {
    if let descriptor = socket?.descriptor { LoopbackSocket.release(descriptor) }
    socket = nil
  }

  private enum Failure: Error {
    case unreachable, notSent, lost, timedOut, malformed, tooLarge

    var code: URLError.Code {
      switch self {
      case .unreachable: .cannotConnectToHost
      case .notSent, .lost: .networkConnectionLost
      case .timedOut: .timedOut
      case .malformed: .badServerResponse
      case .tooLarge: .dataLengthExceedsMaximum
      }
    }
  }

  private mutating func attempt(_ request: LoopbackRequest) -> Result<HTTPClientResponse, Failure> {
    if socket == nil {
      guard let made = LoopbackSocket.connect(to: request.address, timeout: timeout) else {
        return .failure(.unreachable)
      }
      socket = (made, request.address)
    }
    guard let descriptor = socket?.descriptor else { return .failure(.unreachable) }
    guard request.pending.setInterrupt({ LoopbackSocket.interrupt(descriptor) }) else {
      return .failure(.lost)
    }
    var keepsConnection = false
    let outcome: Result<HTTPClientResponse, Failure>
    do throws(Failure) {
      let isComplete = try send(request.bytes, descriptor)
      let (response, keeps) = try receive(descriptor)
      keepsConnection = keeps && isComplete
      outcome = .success(response)
    } catch {
      outcome = .failure(error)
    }
    request.pending.clearInterrupt()
    // Cancelling a request shuts its connection down, even after the response.
    if !keepsConnection || request.pending.isFinished { close() }
    return outcome
  }

  /// Sends a request; returns `false` when the server responded, or closed the connection, before
  /// it had read all of it.
  private func send(_ bytes: [UInt8], _ descriptor: Int32) throws(Failure) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let outcome = bytes.withUnsafeBytes {
        LoopbackSocket.send(
          descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]), timeout: timeout)
      }
      switch outcome {
      case .bytes(0): return false
      case .bytes(let count): sent += count
      case .timedOut: throw .timedOut
      case .end, .failed:
        if sent == 0 { throw .notSent }
        // The server may have sent a response with the reason.
        return false
      }
    }
    return true
  }

  private mutating func receive(
    _ descriptor: Int32
  ) throws(Failure) -> (response: HTTPClientResponse, keepsConnection: Bool) {
    var parser = HTTPResponseParser()
    while true {
      let outcome = buffer.withUnsafeMutableBytes {
        LoopbackSocket.receive(descriptor, into: $0, timeout: timeout)
      }
      if outcome == .timedOut { throw .timedOut }
      do throws(HTTPResponseParser.ParseError) {
        if case .bytes(let count) = outcome {
          try parser.take(buffer[..<count])
        } else {
          try parser.end()
        }
      } catch {
        switch error {
        case .incomplete: throw .lost
        case .malformed: throw .malformed
        case .tooLarge: throw .tooLarge
        }
      }
      if let response = parser.result { return (response, parser.keepsConnection) }
    }
  }
}
