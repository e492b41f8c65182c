import CloudSync
import Records
import SyncMachine

/// I1, I3 and I17: what an engine that works by itself owes when nothing will ever happen again.
///
/// No timer runs and no message is under way, so whatever the engine knows of must be done: nothing
/// waits to be sent, no zone waits to be read, and the app has what was on the server when the
/// engine last had a cause to fetch. What came later on the server it need not know.
extension EngineWorld {
  func checkNoWorkIsPending() {
    for device in devices where device.isAutomatic && findings.isEmpty {
      checkPendingWork(of: device)
    }
  }

  private func checkPendingWork(of device: EngineDevice) {
    guard let run = device.run, let account = device.account, device.isUsable,
      run.engine.stateStoreError == nil
    else { return }
    let (name, state, model) = (device.name, run.engine.syncState, run.app.model)
    guard model.owner == layout.users[account - 1], state.user == model.owner else {
      return findings.report("I13", "\(name): nothing will take it to its account")
    }
    if !state.records.isEmpty || !state.zones.isEmpty || state.hasUntrackedChanges {
      findings.report("I3", "\(name): changes are pending and nothing will send them")
    }
    guard device.fetchesEverything else { return }
    if let zone = state.changedZones.first {
      findings.report("I1", "\(name): \(zone.name) has changes and nothing will fetch them")
    }
    if let time = device.newsTime { checkData(of: device, model, account, upTo: time) }
  }

  /// Compares what did not change on the server since `time`.
  private func checkData(
    of device: EngineDevice, _ model: AppModel, _ account: Int, upTo time: Int
  ) {
    if device.scope == .shared { return checkVisit(of: device, model, account, upTo: time) }
    let database = cloud.database(of: account)
    for place in layout.records.indices {
      let (zone, entry) = (database.zones[layout.zone(of: place)], database.entries[place])
      // Of what was never there since the zone was made, only the zone says how old it is.
      let changedAt = entry.changedAt > 0 ? entry.changedAt : zone.changedAt
      guard changedAt <= time, !model.isUnsettled(at: place) else { continue }
      findings.compare(
        model.entries[place], of: device.name, at: place, in: layout, with: entry.record)
    }
  }
}

extension EngineWorld {
  /// The same for what others share with the account.
  private func checkVisit(
    of device: EngineDevice, _ model: AppModel, _ account: Int, upTo time: Int
  ) {
    let records = cloud.records(for: account, .shared)
    for zone in layout.zones.indices where cloud.visitChange(of: zone, for: account) <= time {
      for place in layout.places(of: zone) where !model.isUnsettled(at: place) {
        findings.compare(
          model.entries[place], of: device.name, at: place, in: layout, with: records[place])
      }
    }
  }
}

extension AppModel {
  /// Whether the app means to change what the server holds at `place`, and has not done so.
  fileprivate func isUnsettled(at place: Int) -> Bool {
    let zone = layout.zone(of: place)
    return entries[place].isDirty || zonesToDelete[zone] || blockedZones[zone]
  }
}
