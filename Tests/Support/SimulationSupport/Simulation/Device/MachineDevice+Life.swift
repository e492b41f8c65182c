import Records
import SyncMachine

/// The starts and crashes of a device.
extension MachineDevice {
  /// Starts the app from `app` and `state` as they came from disk.
  func start(from stored: SyncState, at now: Int) {
    session += 1
    var state = SyncState()
    do {
      state = try SyncState(decoding: stored.encoded())
    } catch {
      findings.report("I11", "\(name): its own state can't be read: \(error)")
    }
    if state != stored {
      findings.report("I11", "\(name): the state came back as another one")
    }
    var configuration = SyncMachine.Configuration(
      session: "\(name)-\(session)", automaticallySync: isAutomatic)
    configuration.hasStateStore = persistence == .stateLog
    configuration.keepsTransitions = true
    var machine = SyncMachine(configuration: configuration, state: state)
    checker.restart(with: state)
    retryChecker.restart(at: now)
    logBase = state
    log = []
    beginFileLog(with: state)
    durableLog = 0
    app.sweep = nil
    machine.start(now: Moment(.milliseconds(now)))
    self.machine = machine
    moved()
    if persistence == .dataFirst { withApp(at: now) { $0.readdDirty() } }
  }

  /// Ends the device at once; data that are not on disk are lost.
  ///
  /// Answers what it will start from: for data and state kept together any pair that was kept,
  /// an older one too, as after a restore; otherwise the data as it is and a state no newer.
  func crash(_ random: inout SeededRandom) -> SyncState {
    let state = end(&random)
    return fault.stored(state) ?? state
  }

  private func end(_ random: inout SeededRandom) -> SyncState {
    let state = machine?.state ?? SyncState()
    // An app that dies over an event may not have written down anything of it.
    if let before = appBeforeEvent, persistence != .together, random.chance(0.5) { app = before }
    appBeforeEvent = nil
    machine = nil
    callback = nil
    isRunnable = false
    wakeAt = nil
    openWaiters = []
    currentRequest = nil
    app.calls = []
    switch persistence {
    case .together, .dataFirst:
      let chosen = chooseKept(&random)
      if persistence == .together {
        app = chosen?.app ?? emptyApp
      } else {
        app.forgetConfirmed(except: chosen?.app.confirmedZones ?? [])
      }
      return chosen?.state ?? SyncState()
    case .stateLog:
      let cut = random.chance(0.5) ? log.count : random.number(in: durableLog...log.count)
      var restored = replayed(cut)
      if cut == log.count {
        compare(restored, with: state, "I11", "gives another state than the machine had")
      }
      if let kept = stateAfterPowerCut() { restored = kept }
      if let loss = checker.pendingChanges.loss(in: restored) {
        findings.report("I3", "\(name): \(loss)")
      }
      return restored
    }
  }

  /// One of the stored pairs; those after it are lost.
  private func chooseKept(_ random: inout SeededRandom) -> (app: AppModel, state: SyncState)? {
    guard !kept.isEmpty else { return nil }
    let index = random.chance(0.7) ? kept.count - 1 : random.below(kept.count)
    kept.removeSubrange((index + 1)...)
    return kept[index]
  }

  /// A state update: the app keeps what it is told to keep, or not.
  func keep(_ random: inout SeededRandom) {
    guard let machine else { return }
    switch persistence {
    case .together, .dataFirst:
      guard random.chance(keepRate) else { return }
      var app = app
      app.sweep = nil
      kept.append((app, machine.state))
      if kept.count > 6 { kept.removeFirst() }
    case .stateLog:
      durableLog = log.count
      guard log.count > 40 else { return }
      compare(
        replayed(log.count), with: machine.state, "I11", "gives another state than the machine has")
      logBase = (try? SyncState(decoding: machine.state.encoded())) ?? SyncState()
      log = []
      durableLog = 0
      withFileLog { try $0.replace(with: logBase) }
    }
  }

  /// The state that the first `count` steps of the log lead to.
  private func replayed(_ count: Int) -> SyncState {
    log[..<count].reduce(into: logBase) { $0.apply($1) }
  }

  /// Reports a state of the log that is not the expected one.
  private func compare(
    _ state: SyncState?, with expected: SyncState, _ invariant: String, _ fault: String
  ) {
    if state?.agrees(with: expected) == true { return }
    let difference = state?.difference(from: expected) ?? "everything"
    findings.report(invariant, "\(name): the state log \(fault): \(difference)")
  }

  // MARK: The log as a file

  /// Performs the writes of the machine; returns whether there were any.
  @discardableResult
  func keepWrites() -> Bool {
    var hasWritten = false
    while let write = machine?.nextWrite() {
      hasWritten = true
      switch write {
      case .append(let changes): keepSteps(changes)
      case .replace: findings.report("I19", "\(name): an empty store is replaced")
      case .rewrite: findings.report("I19", "\(name): a store that never failed is rewritten")
      }
      machine?.stored(StoreSize())
    }
    return hasWritten
  }

  /// Keeps steps of the state.
  private func keepSteps(_ steps: [StateChange]) {
    log += steps
    withFileLog { try $0.append(steps) }
  }

  private func withFileLog<Value>(_ body: (DeviceLog) throws -> Value) -> Value? {
    guard persistence == .stateLog, let fileLog else { return nil }
    do { return try body(fileLog) } catch {
      findings.report("I19", "\(name): the state log can't be used: \(error)")
      return nil
    }
  }

  /// The file holds what the device starts from, and goes on from there.
  private func beginFileLog(with state: SyncState) {
    withFileLog { file in
      guard let kept = try file.open() else { return try file.replace(with: state) }
      compare(kept, with: state, "I18", "begins with another state")
    }
  }

  /// The state in the file after a power cut: it contains every appended step.
  private func stateAfterPowerCut() -> SyncState? {
    withFileLog { file -> SyncState? in
      let kept = try file.afterPowerCut()
      compare(kept, with: replayed(log.count), "I18", "lost what it had acknowledged")
      return kept
    } ?? nil
  }
}

extension SyncState {
  /// Whether both remember the same.
  ///
  /// The order of pending changes may differ: an ID that is added again while it is under way
  /// stands last in the machine and where it was in a log.
  fileprivate func agrees(with other: SyncState) -> Bool {
    var first = self
    var second = other
    let isSame =
      Set(records.unsettled) == Set(other.records.unsettled)
      && Set(zones.unsettled) == Set(other.zones.unsettled)
    first.records = PendingChanges()
    second.records = PendingChanges()
    first.zones = PendingChanges()
    second.zones = PendingChanges()
    return isSame && first == second
  }

  /// Which parts differ.
  fileprivate func difference(from other: SyncState) -> String {
    var parts: [String] = []
    if user != other.user || unannounced != other.unannounced { parts.append("user") }
    if databaseToken != other.databaseToken { parts.append("databaseToken") }
    if zoneTokens != other.zoneTokens { parts.append("zoneTokens") }
    if changedZones != other.changedZones { parts.append("changedZones") }
    if expiredZones != other.expiredZones { parts.append("expiredZones") }
    if needsFetch != other.needsFetch { parts.append("needsFetch") }
    if hasUntrackedChanges != other.hasUntrackedChanges { parts.append("hasUntrackedChanges") }
    if subscription != other.subscription { parts.append("subscription") }
    if records != other.records {
      parts.append("records \(records.unsettled) and \(other.records.unsettled)")
    }
    if zones != other.zones { parts.append("zones \(zones.unsettled) \(other.zones.unsettled)") }
    return parts.joined(separator: ", ")
  }
}
