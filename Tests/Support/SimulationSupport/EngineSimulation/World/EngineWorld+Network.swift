import CloudProtocol
import CloudSync
import Records
import SyncMachine
import Synchronization

/// The network between devices and server.
extension EngineWorld {
  /// A delay in milliseconds; mostly short, sometimes as long as in this world's options.
  func delay() -> Int {
    let longest = isHealed ? 20 : options.network.longestDelay
    return 1 + random.below(random.chance(0.2) ? longest : min(longest, 50))
  }

  func post(_ message: Message, after delay: Int) {
    messages.push(message, at: now + delay, rank: random.next())
  }

  /// Takes what tasks left for the network.
  func carry() {
    for item in networkQueue.take() {
      switch item {
      case .request(let call, let device, ForeignStateApp.run, let number):
        post(
          .request(
            call, device: device, run: ForeignStateApp.run, number: number,
            account: devices[device].account, isAnswered: true), after: 1)
      case .request(let call, let device, let run, let number):
        send(call, from: devices[device].part(for: call.database), run: run, number: number)
      case .answer(let answer, let device, let run, let number):
        journal.mix(answer.digestNumber)
        note("server answers device\(device)'s request \(run).\(number): \(answer.summary)")
        if !isHealed, random.chance(options.network.answerLoss) {
          lose(device: device, run: run, number: number)
        } else {
          post(.answer(answer, device: device, run: run, number: number), after: delay())
        }
      case .push(let push, let device, let account):
        if !isHealed, random.chance(options.network.pushLoss) { continue }
        post(.push(push, device: device, account: account), after: delay())
      case .shared(let action, let zone, let accounts): noteSharing(action, zone, accounts)
      }
    }
  }

  private func send(_ call: CloudCall, from device: EngineDevice, run: Int, number: Int) {
    guard device.run?.number == run else { return }
    let request = plain(call, of: device)
    note("\(device.name) asks \(call.request.summary) as \(run).\(number)")
    if case .modifyZones(let request) = request {
      device.run?.app.contents.withLock { contents in
        contents.checker.pendingChanges.note(sending: request, addedSince: contents.zonesAddedSince)
        contents.zonesAddedSince = []
      }
    }
    if case .fetchDatabaseChanges(let request) = call.request {
      device.run?.app.note(listingFrom: request.since)
    }
    if case .modifyRecords(let request) = request,
      let fault = device.run?.app.contents.withLock({ $0.checker.fault(sending: request) })
    {
      findings.report(fault.invariant, "\(device.name): \(fault.message)")
    }
    if let fault = device.retryChecker.faultOfRequest(at: now)
      ?? device.retryChecker.faultOfRate(at: now)
    {
      findings.report("I16", "\(device.name): \(fault)")
    }
    guard device.isOnline else {
      let error = CloudError(.networkUnavailable, "the device is offline")
      return post(
        .answer(.failure(error), device: device.number, run: run, number: number), after: 1)
    }
    let isLost = !isHealed && random.chance(options.network.loss)
    let isDoubled = !isHealed && random.chance(options.network.doubling)
    if isLost {
      lose(device: device.number, run: run, number: number)
    } else {
      post(
        .request(
          call, device: device.number, run: run, number: number, account: device.account,
          isAnswered: true), after: delay())
    }
    if isDoubled {
      post(
        .request(
          call, device: device.number, run: run, number: number, account: device.account,
          isAnswered: random.chance(0.5)), after: delay() + delay())
    }
  }

  /// The request or its answer is lost: the device gets a timeout.
  private func lose(device: Int, run: Int, number: Int) {
    let code: CloudError.Code = random.chance(0.8) ? .networkFailure : .serverResponseLost
    post(
      .answer(
        .failure(CloudError(code, "no answer came")), device: device, run: run, number: number),
      after: options.network.timeout)
  }

  /// A message arrives.
  func arrive(_ message: Message) {
    journal.mix(100)
    switch message {
    case .request(let call, let device, let run, let number, let account, let isAnswered):
      tally.requests += 1
      let (cloud, networkQueue) = (cloud, networkQueue)
      let asker = devices[device].process.number
      Task.detached(executorPreference: executor) {
        let answer = await cloud.answer(call, device: asker, account: account)
        guard isAnswered else { return }
        networkQueue.put(.answer(answer, device: device, run: run, number: number))
      }
    case .answer(let answer, let number, ForeignStateApp.run, let request):
      _ = devices[number].foreignApp?.link.answer(request, with: answer)
    case .answer(let answer, let number, let runNumber, let request):
      let device = devices[number]
      guard let run = device.run, run.number == runNumber, run.link.isOpen(request) else { return }
      note("\(device.name) hears of \(runNumber).\(request): \(answer.summary)")
      // What arrives for an operation that was ended is news to nobody.
      if run.engine.stage.waitsForAnswer { device.retryChecker.note(answer, at: now) }
      switch answer {
      case .failure(let error): note(failure: error, of: device, run)
      case .success(let reply):
        for error in reply.itemErrors {
          tally.situations[Situation.name(itemOf: run.engine.stage, error.code), default: 0] += 1
        }
        let plain = run.app.spelling(run.engine).plain(reply)
        run.app.contents.withLock { $0.checker.note(arrived: plain) }
      }
      _ = run.link.answer(request, with: answer)
    case .push(let push, let number, let account):
      let device = devices[number]
      guard device.account == account, let run = device.run else { return }
      guard device.isOnline else {
        device.waitingPushes += 1
        return
      }
      note("\(device.name) gets a push")
      for part in device.parts {
        part.retryChecker.noteCause()
        if part.scope == push.database { part.noteNews(at: cloud.time) }
      }
      run.link.tell(.push(push))
      if let narrow = narrowFetch, narrow.device == number { fetch(run, .zoneIDs([narrow.zone])) }
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
    tally.situations[Situation.name(error.code, stage), default: 0] += 1
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
  /// Whether a request is under way.
  var waitsForAnswer: Bool {
    switch self {
    case .checkingAccount, .findingSubscription, .savingSubscription, .readingDatabase,
      .checkingZones, .readingZone, .sendingZones, .sendingRecords:
      true
    case .created, .dormant, .idle, .announcingFetch, .askingFetchOptions, .choosingZone,
      .deliveringDatabase, .openingZone, .deliveringZone, .closingZone, .closingFetch,
      .announcingSend, .deliveringZones, .askingBatch, .deliveringRecords, .closingSend, .stopped:
      false
    }
  }
}

extension Result where Success == CloudReply, Failure == CloudError {
  /// A number that tells answers apart, without anything that differs between processes.
  var digestNumber: Int {
    switch self {
    case .failure(let error): error.code.rawValue
    case .success(let reply): 1_000 + reply.summary.utf8.count
    }
  }
}
