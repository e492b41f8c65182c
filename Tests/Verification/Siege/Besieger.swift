import Foundation

/// One hostile client: it sends storms of requests and looks at every answer.
struct Besieger {
  private let land: Land
  private let violations: Violations
  private var random: Randomness
  private var requests: HostileRequests
  private let level: String?
  private let secret = Array(Land.secret.utf8)
  private var wire: Wire?
  private(set) var tally = Tally()

  init(land: Land, seed: UInt64, level: String?, violations: Violations) {
    self.level = level
    self.land = land
    self.violations = violations
    random = Randomness(seed: seed)
    requests = HostileRequests(land)
  }

  /// Sends some requests at once and reads the answers; how many requests were dealt with.
  ///
  /// Whatever is sent, each request whose end can be found gets one answer, and after the end of a
  /// connection the server's end comes.
  mutating func storm() throws(SiegeFault) -> Int {
    var storm: [HostileRequests.Request] = []
    for _ in 0...random.below(24) { storm.append(requests.framed(&random, level: level)) }
    let ends = level == nil && random.happens(60)
    if ends { storm.append(requests.broken(&random)) }
    if wire == nil {
      wire = try Wire(port: land.keys.port)
      tally.connections += 1
    }
    guard let wire else { return 0 }
    var exchange = Exchanging(wire: wire, storm: storm)
    let isCut = ends && random.happens(25)
    if isCut {
      // Gone before anything is read, in the middle of something.
      _ = exchange.send(atMost: random.below(exchange.count + 1))
      if random.happens(50) { wire.reset() } else { wire.close() }
      self.wire = nil
      tally.cuts += 1
      for request in storm { tally.levels[request.level, default: 0] += 1 }
      return storm.count
    }
    let isOpen = try exchange.run(endsAfterwards: ends)
    for request in storm.prefix(exchange.dealtWith) {
      tally.levels[request.level, default: 0] += 1
    }
    for (index, answer) in exchange.answers.enumerated() {
      let request = storm[min(index, storm.count - 1)]
      judge(answer, request)
      if answer.status == 200, !request.isAlices, random.happens(2) {
        requests.learn(answer.body, &random)
      }
    }
    if ends || !isOpen {
      wire.close()
      self.wire = nil
    }
    return exchange.dealtWith
  }

  private mutating func judge(_ answer: Answers.Answer, _ request: HostileRequests.Request) {
    tally.answers += 1
    tally.statuses["\(answer.status)", default: 0] += 1
    if answer.status == 500 || !(200...505).contains(answer.status) {
      violations.add(
        "\(request.level) was answered with \(answer.status): \(answer.text.prefix(600)) FOR "
          + String(decoding: request.bytes.prefix(2000), as: UTF8.self))
    }
    if !request.isAlices, answer.bytes.contains(secret) {
      violations.add(
        "\(request.level) was told alice's secret: \(answer.text.prefix(600)) FOR "
          + String(decoding: request.bytes.prefix(2000), as: UTF8.self))
    }
  }
}

/// A storm on its way over one connection.
struct Exchanging {
  private let wire: Wire
  private let storm: [HostileRequests.Request]
  private let bytes: [UInt8]
  private var sent = 0
  private(set) var answers: [Answers.Answer] = []
  private var reader = Answers()
  /// How many requests the server has answered or ended the connection on.
  private(set) var dealtWith = 0

  init(wire: Wire, storm: [HostileRequests.Request]) {
    self.wire = wire
    self.storm = storm
    bytes = storm.flatMap(\.bytes)
  }

  /// How many bytes there are to send.
  var count: Int { bytes.count }

  /// Sends up to `most` bytes without looking back.
  mutating func send(atMost most: Int) -> Bool {
    while sent < min(most, bytes.count) {
      guard let taken = wire.send(bytes[sent..<min(most, bytes.count)]), taken > 0 else {
        return false
      }
      sent += taken
    }
    return true
  }

  /// Sends everything and reads the answers; whether the connection can be used again.
  mutating func run(endsAfterwards: Bool) throws(SiegeFault) -> Bool {
    let framed = endsAfterwards ? storm.count - 1 : storm.count
    let end = Date.timeIntervalSinceReferenceDate + 30
    var hasEnded = false
    while true {
      if sent < bytes.count {
        // A server that has answered and closed takes no more, which is its right.
        guard let taken = wire.send(bytes[sent...]) else { return try over(isReset: true) }
        sent += taken
      }
      try readAnswers()
      if answers.last?.closes == true { return try over(isReset: false) }
      if answers.count >= framed, sent == bytes.count {
        if !endsAfterwards {
          dealtWith = storm.count
          return true
        }
        if !hasEnded {
          hasEnded = true
          wire.endWriting()
        }
      }
      guard Date.timeIntervalSinceReferenceDate < end else {
        let waiting = storm[min(answers.count, storm.count - 1)]
        throw SiegeFault(
          "\(answers.count) of \(framed) answers in 30 s (ended: \(hasEnded)); waiting for "
            + String(decoding: waiting.bytes.prefix(3000), as: UTF8.self))
      }
      guard wire.wait(writing: sent < bytes.count, milliseconds: 1000) else { continue }
      switch wire.receive(into: &reader.unread) {
      case .bytes, .nothing: break
      case .end:
        try readAnswers()
        return try over(isReset: false)
      case .broken: return try over(isReset: true)
      }
    }
  }

  private mutating func readAnswers() throws(SiegeFault) {
    while !reader.unread.isEmpty {
      let isHead = answers.count < storm.count && storm[answers.count].isHead
      guard let answer = try reader.next(isHead: isHead) else { return }
      answers.append(answer)
    }
  }

  /// The server has ended the connection.
  private mutating func over(isReset: Bool) throws(SiegeFault) -> Bool {
    dealtWith = min(storm.count, max(answers.count, 1))
    let framed = storm.prefix { $0.isFramed }.count
    guard isReset || answers.last?.closes == true || answers.count >= framed
    else {
      let waiting = storm[min(answers.count, storm.count - 1)]
      throw SiegeFault(
        "the server ended after \(answers.count) of \(framed) answers without saying so, at "
          + String(decoding: waiting.bytes.prefix(3000), as: UTF8.self))
    }
    return false
  }
}

extension Sequence<UInt8> {
  /// Whether `part` occurs in it.
  func contains(_ part: [UInt8]) -> Bool {
    withContiguousStorageIfAvailable { bytes in
      guard let first = part.first, bytes.count >= part.count else { return false }
      var index = 0
      while index <= bytes.count - part.count {
        if bytes[index] == first, bytes[index..<(index + part.count)].elementsEqual(part) {
          return true
        }
        index += 1
      }
      return false
    } ?? Array(self).contains(part)
  }
}
