import CloudMachine
import CloudProtocol
import Records

/// The changes of its zones by administrators and other programs.
extension MachineCloud {
  /// Another account, or the user in the settings, removes a zone.
  mutating func remove(
    _ zone: Int, of account: Int, reason: ZoneDeletionReason, at now: Int
  ) throws -> [OutgoingPush] {
    let id = layout.zones[zone]
    let database = database(of: account)
    let time = Timestamp(secondsSinceReferenceDate: 800_000_000 + Double(now) / 1000)
    guard try storage.zone(id, in: database)?.deletion == nil,
      try storage.zone(id, in: database) != nil
    else { return [] }
    oracle.remove(zone, of: account, reason: reason)
    return try machine.removeZone(
      id, for: reason, in: database, now: time, storage: storage
    ).pushes
  }

  /// The user deletes records of a zone elsewhere, with a program that keeps nothing.
  ///
  /// - Parameter number: Tells one time from the next.
  mutating func deleteRecords(
    _ places: [Int], of account: Int, number: Int, at now: Int
  ) throws -> [OutgoingPush] {
    let ids = places.map { layout.records[$0] }
    let call = CloudCall(
      container: WorldLayout.container, database: .private,
      expectedUser: layout.users[account - 1], requestID: "\(Self.console)-\(number)",
      request: .modifyRecords(ModifyRecords(delete: ids, isAtomic: false)))
    let time = Timestamp(secondsSinceReferenceDate: 800_000_000 + Double(now) / 1000)
    let caller = Caller(user: layout.users[account - 1], device: Self.console)
    let answer = try machine.answer(call, from: caller, now: time, in: storage)
    guard case .success(let reply) = answer.result else { return [] }
    _ = oracle.check(call, account: account, device: Self.console, reply)
    return answer.pushes
  }

  private static let console = "console"

  /// The server forgets tokens, or deletions with the tokens that have not seen them.
  mutating func forget(
    _ zone: Int?, of account: Int, trims: Bool, at now: Int
  ) throws {
    let database = database(of: account)
    let time = Timestamp(secondsSinceReferenceDate: 800_000_000 + Double(now) / 1000)
    if let zone {
      guard let row = try storage.zone(layout.zones[zone], in: database), row.deletion == nil
      else { return }
    }
    let id = zone.map { layout.zones[$0] }
    if trims {
      oracle.trim(zone, of: account)
      _ = try machine.trimTombstones(of: id, in: database, now: time, storage: storage)
    } else {
      _ = try machine.expireTokens(of: id, in: database, now: time, storage: storage)
    }
  }
}
