import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// The network between devices and server.
extension World {
  /// A delay in milliseconds; mostly short, sometimes as long as in this world's options.
  func delay() -> Int {
    let longest = isHealed ? 20 : options.network.longestDelay
    return 1 + random.below(random.chance(0.2) ? longest : min(longest, 50))
  }

  func post(_ message: Message, after delay: Int) {
    messages.push(message, at: now + delay, rank: random.next())
  }

  /// A device sends a request, which may be lost, duplicated or late.
  func send(_ request: OutgoingRequest, from device: WorldDevice) {
    note("\(device.name) asks \(request.request.summary) as \(request.requestID)")
    let call = CloudCall(
      container: WorldLayout.container, database: .private, expectedUser: request.expectedUser,
      requestID: request.requestID, request: request.request)
    let token = request.token.number
    guard device.isOnline else {
      let error = CloudError(.networkUnavailable, "the device is offline")
      post(
        .answer(.failure(error), device: device.number, session: device.session, token: token),
        after: 1)
      return
    }
    let isLost = !isHealed && random.chance(options.network.loss)
    let isDoubled = !isHealed && random.chance(options.network.doubling)
    if isLost {
      lose(device: device.number, session: device.session, token: token)
    } else {
      post(
        .request(
          call, device: device.number, account: device.account, session: device.session,
          token: token, isAnswered: true), after: delay())
    }
    if isDoubled {
      post(
        .request(
          call, device: device.number, account: device.account, session: device.session,
          token: token, isAnswered: random.chance(0.5)), after: delay() + delay())
    }
  }

  /// The request or its answer is lost: the device gets a timeout.
  private func lose(device: Int, session: Int, token: UInt64) {
    let code: CloudError.Code = random.chance(0.8) ? .networkFailure : .serverResponseLost
    let error = CloudError(code, "no answer came")
    post(
      .answer(.failure(error), device: device, session: session, token: token),
      after: options.network.timeout)
  }

  /// A message arrives.
  func arrive(_ message: Message) throws {
    trace.mix(100)
    switch message {
    case .request(let call, let device, let account, let session, let token, let isAnswered):
      let outcome = try cloud.answer(
        call, from: device, name: devices[device].name, account: account, at: now, &random)
      trace.mix(outcome.answer.digest)
      note("server answers \(call.requestID): \(outcome.answer.summary)")
      if isAnswered {
        if !isHealed, random.chance(options.network.answerLoss) {
          lose(device: device, session: session, token: token)
        } else {
          post(
            .answer(outcome.answer, device: device, session: session, token: token),
            after: delay())
        }
      }
      push(outcome.pushes)
    case .answer(let answer, let number, let session, let token):
      let device = devices[number]
      guard device.session == session else { return }
      note("\(device.name) hears of \(token): \(answer.summary)")
      device.receive(answer, for: token, at: now, &random)
    case .push(let number, let account):
      let device = devices[number]
      guard device.account == account, device.isOnline, device.machine != nil else { return }
      note("\(device.name) gets a push")
      device.retryChecker.noteCause()
      device.machine?.serverChanged(now: Moment(.milliseconds(now)))
      device.moved()
    case .accountSignal(let number):
      let device = devices[number]
      guard device.machine != nil else { return }
      note("\(device.name) hears that the account may have changed")
      device.retryChecker.noteAccountSignal()
      device.machine?.accountSignalled(now: Moment(.milliseconds(now)))
      device.noteInterruption()
      device.moved()
    case .launch(let number): launch(number)
    }
  }

  /// Sends the server's pushes.
  func push(_ orders: [OutgoingPush]) {
    for order in orders {
      guard let account = layout.account(of: order.user) else { continue }
      for device in devices where device.name != order.exceptDevice {
        if !isHealed, random.chance(options.network.pushLoss) { continue }
        post(.push(device: device.number, account: account), after: delay())
      }
    }
  }
}
