import CloudProtocol

/// I7: a request that is repeated under its name has one answer, and is carried out once.
struct ReplayChecker {
  /// Names a request as the server does.
  private struct Key: Hashable {
    var account: Int
    var device: String
    var requestID: String
  }

  /// The relation of a reply to earlier replies.
  enum Verdict: Hashable {
    /// It was never answered before, or changes nothing.
    case new
    /// It was, and alike.
    case repeated
    /// It was, and otherwise.
    case contradicted
  }

  private var answered: [Key: CloudReply] = [:]

  /// Notes an answer.
  mutating func check(
    _ call: CloudCall, account: Int, device: String, _ reply: CloudReply
  ) -> Verdict {
    guard call.request.isMutation else { return .new }
    let key = Key(account: account, device: device, requestID: call.requestID)
    guard let first = answered[key] else {
      answered[key] = reply
      return .new
    }
    return first == reply ? .repeated : .contradicted
  }
}
