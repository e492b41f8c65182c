/// Finds answers in what a connection brought.
struct Answers {
  /// One answer.
  struct Answer {
    var status: Int
    var closes: Bool
    /// The answer from its first byte to its last.
    var bytes: [UInt8]
    /// Where the body begins.
    var bodyStart: Int

    var body: ArraySlice<UInt8> { bytes[bodyStart...] }
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// What came and was not taken yet.
  var unread: [UInt8] = []

  /// The next answer; `nil` when it is not complete.
  ///
  /// One to `HEAD` has no body.
  mutating func next(isHead: Bool) throws(SiegeFault) -> Answer? {
    while true {
      guard let end = Answers.headerEnd(unread) else {
        guard unread.count < 65536 else { throw SiegeFault("an answer's header has no end") }
        return nil
      }
      let lines = String(decoding: unread[..<(end - 4)], as: UTF8.self).lowercased()
        .split(separator: "\r\n", omittingEmptySubsequences: false)
      let words = lines[0].split(separator: " ")
      guard words.count > 1, words[0] == "http/1.1", let status = Int(words[1]),
        (100...599).contains(status)
      else { throw SiegeFault("what came is no answer: \(lines[0].prefix(80))") }
      if status == 100 {
        unread.removeFirst(end)
        continue
      }
      let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap {
        Int($0.dropFirst(16))
      }
      let bodyLength = isHead ? 0 : length ?? 0
      guard unread.count >= end + bodyLength else { return nil }
      let answer = Answer(
        status: status, closes: lines.contains("connection: close"),
        bytes: Array(unread[..<(end + bodyLength)]), bodyStart: end)
      unread.removeFirst(end + bodyLength)
      return answer
    }
  }

  private static func headerEnd(_ bytes: [UInt8]) -> Int? {
    var index = 3
    while index < bytes.count {
      if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13
      {
        return index + 1
      }
      index += 1
    }
    return nil
  }
}
