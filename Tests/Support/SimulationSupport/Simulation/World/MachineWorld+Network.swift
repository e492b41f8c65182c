import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// Messages of a world of machines, and what its devices are told.
extension MachineWorld {
  /// A device sends a request.
  func send(_ request: OutgoingRequest, from device: MachineDevice) {
    let call = CloudCall(
      container: WorldLayout.container, database: .private, expectedUser: request.expectedUser,
      requestID: request.requestID, request: request.request)
    transmit(
      call,
      from: Message.Sender(
        device: device.number, run: device.session, number: Int(request.token.number)),
      on: device)
  }

  /// A message arrives.
  func arrive(_ message: Message) throws {
    journal.mix(100)
    switch message {
    case .request(let call, let sender, let account, let isAnswered):
      let outcome = try cloud.answer(
        call, from: sender.device, name: devices[sender.device].name, account: account, at: now,
        &random)
      journal.mix(outcome.result.summary)
      note("server answers \(call.requestID): \(outcome.result.summary)")
      if isAnswered { reply(outcome.result, to: sender) }
      push(outcome.pushes)
    case .answer(let answer, let sender):
      let device = devices[sender.device]
      guard device.session == sender.run else { return }
      note("\(device.name) hears of \(sender): \(answer.summary)")
      device.receive(answer, for: UInt64(sender.number), at: now, &random)
    case .push(_, let number, let account):
      let device = devices[number]
      guard device.account == account, device.isOnline, device.isRunning else { return }
      note("\(device.name) gets a push")
      device.retryChecker.noteCause()
      push(to: device)
    case .accountSignal(let number):
      let device = devices[number]
      guard device.isRunning else { return }
      note("\(device.name) hears that the account may have changed")
      device.retryChecker.noteAccountSignal()
      device.tell(mayInterrupt: true) { $0?.accountSignalled(now: moment) }
    case .launch(let number): launch(number)
    case .pause: break
    }
  }

  /// Sends the server's pushes.
  func push(_ orders: [OutgoingPush]) {
    for order in orders {
      guard let account = layout.account(of: order.user) else { continue }
      for device in devices where device.name != order.exceptDevice {
        send(order.push, to: device.number, account: account)
      }
    }
  }

  // MARK: What devices are told

  func push(to device: MachineDevice) { device.tell { $0?.serverChanged(now: moment) } }

  func tellNetworkReturned(to device: MachineDevice) {
    device.tell { $0?.networkReturned(now: moment) }
  }

  func cancelOperations(of device: MachineDevice) {
    device.tell(mayInterrupt: true) {
      $0?.cancelOperations(waiter: device.newWaiter(), now: moment)
    }
  }

  func fetch(_ device: MachineDevice, _ scope: FetchScope) {
    let context = FetchContext(reason: .manual, options: FetchOptions(scope: scope))
    device.tell { $0?.fetch(context, waiter: device.newWaiter()) }
  }

  func send(_ device: MachineDevice, _ scope: SendScope) {
    let context = SendContext(reason: .manual, scope: scope)
    device.tell { $0?.send(context, waiter: device.newWaiter()) }
  }

  func crash(_ device: MachineDevice) {
    // What is lost between the engine and its app is lost while the app has an event.
    let busy = devices.filter { $0.isRunning && $0.callback != nil }
    let device = busy.isEmpty || random.chance(0.5) ? device : random.pick(busy)
    guard device.isRunning else { return launch(device.number) }
    note("\(device.name) crashes")
    device.nextState = device.crash(&random)
    post(.launch(device: device.number), after: delay())
  }

  func launch(_ number: Int) {
    let device = devices[number]
    guard !device.isRunning else { return }
    note(
      "\(device.name) starts, keeps \(device.persistence), \(device.app.policy), "
        + (device.isAutomatic ? "automatic" : "by hand"))
    device.start(from: device.nextState, at: now)
  }
}
