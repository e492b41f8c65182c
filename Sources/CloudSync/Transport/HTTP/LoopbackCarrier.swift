import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One connection, and what its thread does with it.
struct LoopbackCarrier {
  private let patience: Int32
  private var line: (descriptor: Int32, address: LoopbackAddress)?
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(patience: Int32) { self.patience = patience }

  /// Carries an errand to its end.
  mutating func run(_ errand: LoopbackErrand) {
    guard !errand.flight.isOver else { return }
    if let line, line.address != errand.address || LoopbackSocket.isStale(line.descriptor) {
      hangUp()
    }
    let isKept = line != nil
    var outcome = attempt(errand)
    // The server left a connection that was kept before it heard a word: another one will do.
    if isKept, case .failure(.untouched) = outcome { outcome = attempt(errand) }
    errand.flight.end(outcome.mapError { URLError($0.code) })
  }

  /// Ends the connection.
  mutating func hangUp() {
    if let descriptor = line?.descriptor { LoopbackSocket.release(descriptor) }
    line = nil
  }

  private enum Failure: Error {
    case unreachable, untouched, lost, late, senseless, tooLarge

    var code: URLError.Code {
      switch self {
      case .unreachable: .cannotConnectToHost
      case .untouched, .lost: .networkConnectionLost
      case .late: .timedOut
      case .senseless: .badServerResponse
      case .tooLarge: .dataLengthExceedsMaximum
      }
    }
  }

  private mutating func attempt(_ errand: LoopbackErrand) -> Result<HTTPAnswer, Failure> {
    if line == nil {
      guard let made = LoopbackSocket.connect(to: errand.address, patience: patience) else {
        return .failure(.unreachable)
      }
      line = (made, errand.address)
    }
    guard let descriptor = line?.descriptor else { return .failure(.unreachable) }
    guard errand.flight.carry({ LoopbackSocket.interrupt(descriptor) }) else {
      return .failure(.lost)
    }
    var keepsLine = false
    let outcome: Result<HTTPAnswer, Failure>
    do throws(Failure) {
      let isWhole = try send(errand.bytes, descriptor)
      let (answer, keeps) = try receive(descriptor)
      keepsLine = keeps && isWhole
      outcome = .success(answer)
    } catch {
      outcome = .failure(error)
    }
    errand.flight.letGo()
    // One that was given up has ended the connection, even after the answer.
    if !keepsLine || errand.flight.isOver { hangUp() }
    return outcome
  }

  /// Sends a request; false when the server answered, or broke off, before it had all of it.
  private func send(_ bytes: [UInt8], _ descriptor: Int32) throws(Failure) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let outcome = bytes.withUnsafeBytes {
        LoopbackSocket.send(
          descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]), patience: patience)
      }
      switch outcome {
      case .bytes(0): return false
      case .bytes(let count): sent += count
      case .late: throw .late
      case .end, .failed:
        if sent == 0 { throw .untouched }
        // Perhaps it said why.
        return false
      }
    }
    return true
  }

  private mutating func receive(
    _ descriptor: Int32
  ) throws(Failure) -> (answer: HTTPAnswer, keepsLine: Bool) {
    var reader = HTTPAnswerReader()
    while true {
      let outcome = buffer.withUnsafeMutableBytes {
        LoopbackSocket.receive(descriptor, into: $0, patience: patience)
      }
      if outcome == .late { throw .late }
      do throws(HTTPAnswerReader.Fault) {
        if case .bytes(let count) = outcome {
          try reader.take(buffer[..<count])
        } else {
          try reader.end()
        }
      } catch {
        switch error {
        case .incomplete: throw .lost
        case .malformed: throw .senseless
        case .tooLarge: throw .tooLarge
        }
      }
      if let answer = reader.result { return (answer, reader.keepsConnection) }
    }
  }
}
