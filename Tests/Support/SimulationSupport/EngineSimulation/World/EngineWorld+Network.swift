import CloudProtocol
import CloudSync
import Records
import SyncMachine
import Synchronization

/// The network between devices and server.
extension EngineWorld {
  /// Takes what tasks left for the network.
  func carry() {
    for item in networkQueue.take() {
      switch item {
      case .request(let call, let sender) where sender.run == ForeignStateApp.run:
        let account = devices[sender.device].account
        post(.request(call, from: sender, account: account, isAnswered: true), after: 1)
      case .request(let call, var sender):
        let device = devices[sender.device].part(for: call.database)
        sender.device = device.number
        send(call, from: sender, on: device)
      case .answer(let answer, let sender):
        journal.mix(answer.summary)
        note("server answers device\(sender.device)'s request \(sender): \(answer.summary)")
        reply(answer, to: sender)
      case .push(let push, let device, let account):
        send(push, to: device, account: account)
      case .shared(let action, let zone, let accounts): noteSharing(action, zone, accounts)
      }
    }
  }

  private func send(_ call: CloudCall, from sender: Message.Sender, on device: EngineDevice) {
    guard device.run?.number == sender.run else { return }
    let request = plain(call, of: device)
    if case .modifyZones(let request) = request {
      let fault = device.run?.app.contents.withLock { contents -> String? in
        defer { contents.zonesAddedSince = [] }
        let fault = contents.checker.pendingChanges.fault(sending: request)
        contents.checker.pendingChanges.note(sending: request, addedSince: contents.zonesAddedSince)
        return fault
      }
      if let fault { findings.report("I16", "\(device.name): \(fault)") }
    }
    if case .fetchDatabaseChanges(let request) = call.request {
      device.run?.app.note(listingFrom: request.since)
    }
    if case .modifyRecords(let request) = request,
      let fault = device.run?.app.contents.withLock({ $0.checker.fault(sending: request) })
    {
      findings.report(fault.invariant, "\(device.name): \(fault.message)")
    }
    transmit(call, from: sender, on: device)
  }

  /// A message arrives.
  func arrive(_ message: Message) {
    journal.mix(100)
    switch message {
    case .request(let call, let sender, let account, let isAnswered):
      tally.requests += 1
      let (cloud, networkQueue) = (cloud, networkQueue)
      let asker = devices[sender.device].process.number
      Task.detached(executorPreference: executor) {
        let answer = await cloud.answer(call, device: asker, account: account)
        if isAnswered { networkQueue.put(.answer(answer, to: sender)) }
      }
    case .answer(let answer, let sender) where sender.run == ForeignStateApp.run:
      _ = devices[sender.device].foreignApp?.link.answer(sender.number, with: answer)
    case .answer(let answer, let sender):
      let device = devices[sender.device]
      guard let run = device.run, run.number == sender.run, run.link.isOpen(sender.number) else {
        return
      }
      note("\(device.name) hears of \(sender): \(answer.summary)")
      // What arrives for an operation that was ended is news to nobody.
      if run.engine.stage.waitsForAnswer { device.retryChecker.note(answer, at: now) }
      switch answer {
      case .failure(let error): note(failure: error, of: device, run)
      case .success(let reply):
        for error in reply.itemErrors {
          tally.situations["item \(error.code) \(run.engine.stage)", default: 0] += 1
        }
        let plain = run.app.spelling(run.engine).plain(reply)
        run.app.contents.withLock { $0.checker.note(arrived: plain) }
      }
      _ = run.link.answer(sender.number, with: answer)
    case .push(let push, let number, let account):
      let device = devices[number]
      guard device.account == account, let run = device.run else { return }
      guard device.isOnline else {
        device.processState.waitingPushes += 1
        return
      }
      note("\(device.name) gets a push")
      for part in device.parts {
        part.retryChecker.noteCause()
        if part.scope == push.database { part.noteNews(at: cloud.time) }
      }
      run.link.tell(.push(push))
      if let narrow = narrowFetch, narrow.device == number { fetch(device, .zones([narrow.zone])) }
    case .accountSignal(let number):
      let device = devices[number].process
      guard let run = device.run else { return }
      note("\(device.name) hears that the account may have changed")
      for part in device.parts {
        part.retryChecker.noteAccountSignal()
        part.retryChecker.noteEnding()
        part.noteAccount(at: cloud.time)
      }
      run.link.tell(.accountChanged)
    case .launch(let number): launch(number)
    case .pause: break
    }
  }
}

extension EngineWorld {
  /// A request of `device`, with the zone names that checkers use.
  private func plain(_ call: CloudCall, of device: EngineDevice) -> CloudRequest {
    guard let run = device.run else { return call.request }
    return run.app.spelling(run.engine).plain(call.request)
  }

  /// A request of a device has failed.
  private func note(failure error: CloudError, of device: EngineDevice, _ run: EngineDevice.Run) {
    let stage = run.engine.stage
    tally.situations["\(error.code) \(stage)", default: 0] += 1
    if stage == .readingDatabase, error.code == .changeTokenExpired {
      run.app.noteExpiredListing()
    }
    // Who is told that the account can't be used waits for the system to say that it can.
    let endsAccount = error.code == .notAuthenticated || error.code == .managedAccountRestricted
    if stage == .checkingAccount, endsAccount, device.isUsable {
      post(.accountSignal(device: device.number), after: random.number(in: 60_000...600_000))
    }
  }
}

extension Stage {
  /// Whether a request may be under way: while the app handles a page, that for the next one.
  var waitsForAnswer: Bool {
    let waiting: [Stage] = [
      .checkingAccount, .findingSubscription, .savingSubscription, .readingDatabase,
      .checkingZones, .readingZone, .deliveringZone, .askingFetchOptions, .choosingZone,
      .sendingZones, .sendingRecords,
    ]
    return waiting.contains(self)
  }
}
