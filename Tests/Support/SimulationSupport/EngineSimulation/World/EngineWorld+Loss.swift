import CloudProtocol
import CloudSync
import Records
import SyncMachine

/// A server that loses its data, when all devices hold the same: they upload all of
/// it again, and drop nothing.
extension EngineWorld {
  func loseServer() throws {
    guard !cloud.isOnDisk, random.chance(0.3),
      (1...options.accountCount).allSatisfy({ isRemembered($0) })
    else { return }
    note("the server begins again with nothing")
    let held = (1...options.accountCount).map { values(of: $0) }
    try cloud.loseEverything()
    journal.reach("server began again")
    for device in devices { push(to: device) }
    try settle(limits)
    try retryEverywhere()
    for account in 1...options.accountCount where findings.isEmpty {
      guard devices.contains(where: { $0.account == account }),
        values(of: account) != held[account - 1]
      else { continue }
      findings.report("I21", "account \(account) lost data with a server that began again")
    }
  }

  /// Whether a device of `account` has the list of zones of the server that is about to go, so that
  /// the next one can tell it.
  private func isRemembered(_ account: Int) -> Bool {
    devices.filter { $0.account == account }
      .allSatisfy { $0.run?.engine.syncState.databaseToken != nil }
  }

  /// The server's values of `account`, without the versions.
  private func values(of account: Int) -> [SimulatedValue?] {
    let entries = cloud.database(of: account).entries
    return entries.indices.map { place in
      entries[place].record.flatMap { SimulatedValue($0, at: place) }
    }
  }
}
