import CloudSync
import CommandLineKit
import Foundation
import SimulationSupport
import Synchronization
import VerificationSupport

/// The tasks that run at the same time.
extension Run {
  /// Uses a device: its user writes, and now and then ends the app and starts it again.
  func use(_ replica: Replica, until end: ContinuousClock.Instant) async throws {
    var random = SeededRandom(seed: options.seed, name: replica.name)
    var nextEnd = clock.now + .seconds(random.number(in: 5...40))
    while clock.now < end {
      replica.write(&random)
      if clock.now > nextEnd {
        nextEnd = clock.now + .seconds(random.number(in: 5...40))
        try await reopen(replica)
      }
      try await Task.sleep(for: .milliseconds(random.number(in: 0...120)))
    }
  }

  /// Ends the app and starts it again; its last callback may still have to return.
  private func reopen(_ replica: Replica) async throws {
    replica.close()
    for _ in 0..<500 {
      do {
        try replica.open()
        return writes.count(.reopened)
      } catch let error as FileStateStoreError where error.code == .inUse {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    writes.violation("\(replica.name): the state file was not let go")
  }

  /// Says every ten seconds how it goes.
  func tell(
    _ replicas: [Replica], from start: ContinuousClock.Instant, until end: ContinuousClock.Instant
  ) async throws {
    var next = start
    var last = 0
    while next < end {
      next += .seconds(10)
      try await clock.sleep(until: min(next, end))
      let totals = writes.totals
      let server = ProcessFigures(of: children[0].processID ?? 0)
      let own = ProcessFigures()
      let pending = replicas.reduce(0) { sum, replica in
        sum + (replica.engine?.state.pendingRecordZoneChanges.count ?? 0)
      }
      say(
        "\((clock.now - start).components.seconds) s: \(totals.acknowledged) writes "
          + "(+\(totals.acknowledged - last)), \(totals[.conflicts]) conflicts, "
          + "\(totals[.foundApplied]) found applied, \(totals[.fetched]) fetched, "
          + "\(pending) pending, \(outages.withLock { $0.count }) interruptions, "
          + "server \(server.megabytes) MB "
          + "\(server.descriptorText) fds, soak \(own.megabytes) MB \(own.descriptorText) fds, "
          + "\(writes.violations.count) violations")
      last = totals.acknowledged
    }
  }

  // MARK: Rest

  /// Waits until nothing is to be sent and everybody has the same.
  ///
  /// By pushes alone; then, if that takes too long, by hand. Answers how many seconds it took.
  func becomeQuiet(_ replicas: [Replica]) async -> Double {
    let start = clock.now
    while clock.now - start < .seconds(60) {
      if isQuiet(replicas) { return Double((clock.now - start) / .milliseconds(1)) / 1000 }
      try? await Task.sleep(for: .milliseconds(20))
    }
    writes.violation("no quiet after a minute: \(unrest(replicas))")
    for _ in 0..<3 {
      for replica in replicas {
        try? await replica.engine?.fetchChanges()
        try? await replica.engine?.sendChanges()
      }
      if isQuiet(replicas) { break }
    }
    if !isQuiet(replicas) { writes.violation("no quiet by hand: \(unrest(replicas))") }
    return Double((clock.now - start) / .milliseconds(1)) / 1000
  }

  private func isQuiet(_ replicas: [Replica]) -> Bool { unrest(replicas).isEmpty }

  /// The differences and pending changes that are left.
  private func unrest(_ replicas: [Replica]) -> [String] {
    var unrest = replicas.flatMap { $0.unsent.prefix(2) }
    guard unrest.isEmpty else { return Array(unrest.prefix(12)) }
    var seen: [Realm: (versions: [NoteKey: Version], name: String)] = [:]
    for replica in replicas {
      let versions = replica.rows.compactMapValues(\.version)
      for realm in replica.realms.values {
        let part = versions.filter { $0.key.realm == realm }
        if let first = seen[realm] {
          if first.versions != part { unrest.append("\(replica.name) differs from \(first.name)") }
        } else {
          seen[realm] = (part, replica.name)
        }
      }
    }
    return unrest
  }

  // MARK: Figures

  /// Waits until no device holds a connection any more.
  ///
  /// On Linux a request that was given up goes on until it is answered; one that waits for a push
  /// is so after 25 s, push or no push.
  func hungUp() async {
    for _ in 0..<400 where ProcessFigures().kinds["socket:", default: 0] > 0 {
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  /// The figures of the server, or of this process, when it no longer closes descriptors.
  func settled(_ child: ServerChild? = nil) async -> ProcessFigures {
    func look() -> ProcessFigures {
      child.map { ProcessFigures(of: $0.processID ?? 0) } ?? .afterTidying()
    }
    var last = look()
    var steady = 0
    for _ in 0..<100 where steady < 10 {
      try? await Task.sleep(for: .milliseconds(100))
      let next = look()
      steady = next.descriptors == last.descriptors ? steady + 1 : 0
      last = next
    }
    return last
  }
}
