import CommandLineKit
import Foundation
import SimulationSupport
import VerificationSupport

/// A client that sends hostile requests in groups and checks every response.
struct HostileClient {
  private let access: Access
  private let violations: Violations
  private var random: SeededRandom
  private var requests: HostileRequests
  private let level: String?
  private let secret = Array(Access.secret.utf8)
  private var socket: LocalSocket?
  private(set) var tally = Tally()

  init(_ access: Access, seed: UInt64, level: String?, violations: Violations) throws {
    self.level = level
    self.access = access
    self.violations = violations
    random = SeededRandom(seed: seed)
    requests = try HostileRequests(access)
  }

  /// Sends some requests at once and reads the responses.
  ///
  /// Whatever is sent, each request whose end can be found gets one response, and after the end of
  /// a connection the server's end comes.
  ///
  /// - Returns: How many requests the server dealt with.
  mutating func sendGroup() throws(ToolError) -> Int {
    var group: [HostileRequests.Request] = []
    for _ in 0...random.below(24) { group.append(requests.framed(&random, level: level)) }
    let ends = level == nil && random.happens(60)
    if ends { group.append(requests.broken(&random)) }
    if socket == nil {
      socket = try LocalSocket(port: access.port, timeout: nil)
      tally.connections += 1
    }
    guard let socket else { return 0 }
    var exchange = Exchange(socket: socket, group: group)
    if ends, random.happens(25) {
      // The connection ends before anything is read, in the middle of something.
      exchange.send(atMost: random.below(exchange.bytes.count + 1))
      if random.happens(50) { socket.reset() } else { socket.end() }
      self.socket = nil
      tally.cuts += 1
      for request in group { tally.levels[request.level, default: 0] += 1 }
      return group.count
    }
    let isOpen = try exchange.run(endsAfterwards: ends)
    for request in group.prefix(exchange.dealtWith) {
      tally.levels[request.level, default: 0] += 1
    }
    for (index, answer) in exchange.answers.enumerated() {
      let request = group[min(index, group.count - 1)]
      judge(answer, request)
      if answer.status == 200, !request.isAlices, random.happens(2) {
        requests.learn(answer.body, &random)
      }
    }
    if ends || !isOpen {
      socket.end()
      self.socket = nil
    }
    return exchange.dealtWith
  }

  private mutating func judge(_ answer: HTTPMessage, _ request: HostileRequests.Request) {
    tally.answers += 1
    tally.statuses["\(answer.status)", default: 0] += 1
    func violation(_ what: String) {
      violations.add(
        "\(request.level) \(what): \(answer.text.prefix(600)) FOR \(request.text.prefix(2000))")
    }
    if answer.status == 500 || !(200...505).contains(answer.status) {
      violation("was answered with \(answer.status)")
    }
    if !request.isAlices, answer.bytes.contains(secret) { violation("was told alice's secret") }
  }

  /// The numbers of requests and responses.
  struct Tally: Sendable {
    var connections = 0
    var cuts = 0
    var answers = 0
    var levels: [String: Int] = [:]
    var statuses: [String: Int] = [:]

    mutating func add(_ other: Tally) {
      connections += other.connections
      cuts += other.cuts
      answers += other.answers
      levels.merge(other.levels, uniquingKeysWith: +)
      statuses.merge(other.statuses, uniquingKeysWith: +)
    }
  }
}

/// A group of requests that is sent on one connection, and the responses to it.
private struct Exchange {
  private let socket: LocalSocket
  private let group: [HostileRequests.Request]
  let bytes: [UInt8]
  private var sent = 0
  private(set) var answers: [HTTPMessage] = []
  private var reader = HTTPMessage.Reader()
  /// The number of requests that the server answered or ended the connection on.
  private(set) var dealtWith = 0

  init(socket: LocalSocket, group: [HostileRequests.Request]) {
    self.socket = socket
    self.group = group
    bytes = group.flatMap(\.bytes)
  }

  /// Sends up to `most` bytes without reading.
  mutating func send(atMost most: Int) {
    while sent < min(most, bytes.count), let taken = socket.write(bytes[sent..<most]), taken > 0 {
      sent += taken
    }
  }

  /// Sends everything and reads the responses; whether the connection can be used again.
  mutating func run(endsAfterwards: Bool) throws(ToolError) -> Bool {
    let framed = endsAfterwards ? group.count - 1 : group.count
    let end = ContinuousClock.now + .seconds(30)
    var hasEnded = false
    while true {
      if sent < bytes.count {
        // A server that has answered and closed may refuse the rest.
        guard let taken = socket.write(bytes[sent...]) else { return try over(isReset: true) }
        sent += taken
      }
      try readAnswers()
      if answers.last?.closes == true { return try over(isReset: false) }
      if answers.count >= framed, sent == bytes.count {
        if !endsAfterwards {
          dealtWith = group.count
          return true
        }
        if !hasEnded {
          hasEnded = true
          socket.endWriting()
        }
      }
      guard ContinuousClock.now < end else {
        throw ToolError(
          "\(answers.count) of \(framed) answers in 30 s (ended: \(hasEnded)); waiting for "
            + waiting)
      }
      guard socket.wait(writing: sent < bytes.count, milliseconds: 1000) else { continue }
      switch socket.read(into: &reader.unread) {
      case .bytes, .nothing: break
      case .end:
        try readAnswers()
        return try over(isReset: false)
      case .broken: return try over(isReset: true)
      }
    }
  }

  /// The request whose response is missing.
  private var waiting: String { "\(group[min(answers.count, group.count - 1)].text.prefix(3000))" }

  private mutating func readAnswers() throws(ToolError) {
    while !reader.unread.isEmpty {
      let isHead = answers.count < group.count && group[answers.count].isHead
      guard let answer = try reader.next(hasBody: !isHead) else { return }
      guard (100...599).contains(answer.status) else {
        throw ToolError("no response: \(answer.head[0].prefix(80))")
      }
      if answer.status != 100 { answers.append(answer) }
    }
  }

  /// The server has ended the connection.
  private mutating func over(isReset: Bool) throws(ToolError) -> Bool {
    dealtWith = min(group.count, max(answers.count, 1))
    let framed = group.prefix { $0.isFramed }.count
    guard isReset || answers.last?.closes == true || answers.count >= framed else {
      throw ToolError(
        "the server ended after \(answers.count) of \(framed) answers without notice, at "
          + waiting)
    }
    return false
  }
}
