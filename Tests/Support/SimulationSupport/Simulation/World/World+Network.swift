import CloudProtocol
import Records
import SyncMachine

/// The network between devices and server, which loses, doubles and delays messages.
extension World {
  /// A delay in milliseconds; mostly short, sometimes as long as in this world's options.
  func delay() -> Int {
    let longest = isHealed ? 20 : options.network.longestDelay
    return 1 + random.below(random.chance(0.2) ? longest : min(longest, 50))
  }

  func post(_ message: Message, after delay: Int) {
    messages.push(message, at: now + delay, rank: random.next())
  }

  /// A device sends a request, which may be lost, doubled or late.
  func transmit(_ call: CloudCall, from sender: Message.Sender, on device: Device) {
    note("\(device.name) asks \(call.request.summary) as \(sender)")
    let faults = [
      device.retryChecker.faultOfRequest(at: now), device.retryChecker.faultOfRate(at: now),
    ]
    for fault in faults.compactMap({ $0 }) { findings.report("I16", "\(device.name): \(fault)") }
    device.retryChecker.note(sending: call.request)
    guard device.isOnline else {
      let error = CloudError(.networkUnavailable, "the device is offline")
      return post(.answer(.failure(error), to: sender), after: 1)
    }
    func request(isAnswered: Bool) -> Message {
      .request(call, from: sender, account: device.account, isAnswered: isAnswered)
    }
    let isLost = !isHealed && random.chance(options.network.loss)
    let isDoubled = !isHealed && random.chance(options.network.doubling)
    if isLost { lose(sender) } else { post(request(isAnswered: true), after: delay()) }
    if isDoubled { post(request(isAnswered: random.chance(0.5)), after: delay() + delay()) }
  }

  /// The request or its answer is lost: the device gets a timeout.
  private func lose(_ sender: Message.Sender) {
    let code: CloudError.Code = random.chance(0.8) ? .networkFailure : .serverResponseLost
    post(
      .answer(.failure(CloudError(code, "no answer came")), to: sender),
      after: options.network.timeout)
  }

  /// The server answers a request; the answer may be lost or late.
  func reply(_ answer: Result<CloudReply, CloudError>, to sender: Message.Sender) {
    if !isHealed, random.chance(options.network.answerLoss) {
      lose(sender)
    } else {
      post(.answer(answer, to: sender), after: delay())
    }
  }

  /// The server sends a push, which may be lost or late.
  func send(_ push: CloudPush, to device: Int, account: Int) {
    if !isHealed, random.chance(options.network.pushLoss) { return }
    post(.push(push, device: device, account: account), after: delay())
  }
}
