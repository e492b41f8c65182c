import Foundation

/// A well-behaved client: one connection, one request after the other.
final class Client {
  private let port: Int
  private var wire: Wire
  private var answers = Answers()

  init(port: Int) throws(SiegeFault) {
    self.port = port
    wire = try Wire(port: port)
  }

  /// The answer to a request.
  func ask(_ request: [UInt8], seconds: Double = 30) throws(SiegeFault) -> Answers.Answer {
    let end = Date.timeIntervalSinceReferenceDate + seconds
    var sent = 0
    while true {
      if sent < request.count {
        guard let count = wire.send(request[sent...]) else {
          throw SiegeFault("the server closed while it was sent a request")
        }
        sent += count
      }
      if let answer = try answers.next(isHead: false) { return answer }
      let left = end - Date.timeIntervalSinceReferenceDate
      guard left > 0 else { throw SiegeFault("no answer in \(seconds) s") }
      guard wire.wait(writing: sent < request.count, milliseconds: Int32(left * 1000) + 1) else {
        continue
      }
      switch wire.receive(into: &answers.unread) {
      case .bytes, .nothing: break
      case .end, .broken: throw SiegeFault("the server closed instead of answering")
      }
    }
  }

  /// The answer to a request that must work.
  func expect(_ request: [UInt8], _ what: String) throws(SiegeFault) -> Answers.Answer {
    let answer = try ask(request)
    guard answer.status == 200,
      !String(decoding: answer.body, as: UTF8.self).contains("serverErrorCode")
    else { throw SiegeFault("\(what): \(answer.text.prefix(2000))") }
    return answer
  }
}
