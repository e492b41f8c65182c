import CloudProtocol
import LoopbackServer
import Records
import Synchronization

/// The server's process ends, or its power does, and it comes back from its disk (I18).
extension EngineCloud {
  /// The ends of the server's process.
  var endings: (powerCuts: Int, kills: Int) {
    contents.withLock { ($0.powerCuts, $0.kills) }
  }

  /// Whether the server keeps what it holds on a disk.
  var isOnDisk: Bool { contents.withLock { $0.disk != nil } }

  /// Decides whether the power is cut during the next request, and at which call on the disk; when
  /// there are not as many, it is cut right behind the answer.
  func plansPowerCut() -> Bool {
    contents.withLock { contents in
      guard let disk = contents.disk, contents.cutRate > 0,
        contents.random.chance(contents.cutRate)
      else { return false }
      disk.faults.powerOff = disk.operationCount + contents.random.number(in: 1...12)
      return true
    }
  }

  /// The power goes during a request, or right behind its answer.
  ///
  /// What was answered must be there. What was not may be there as a whole or not at all: it is
  /// asked once more under the same ID, which must give the one answer it has.
  func losePower(
    during call: CloudCall, _ split: PartiallyFailingCall, by asker: Asker,
    _ answer: Result<CloudReply, CloudError>
  ) async -> Result<CloudReply, CloudError> {
    let isInDoubt: Bool
    if case .failure = answer {
      isInDoubt = contents.withLock { $0.disk?.isOff ?? false }
    } else {
      isInDoubt = false
    }
    journal.note("the server loses power \(isInDoubt ? "before" : "behind") an answer")
    let heard = isInDoubt ? lost : check(answer, to: call, split, by: asker)
    contents.withLock { $0.powerCuts += 1 }
    guard comeBack(afterPowerCut: true) else { return lost }
    if isInDoubt, call.request.isMutation {
      let second = await send(split.call, to: server, by: asker)
      _ = check(second, to: call, split, by: asker)
    }
    checkDurability()
    return heard
  }

  private var lost: Result<CloudReply, CloudError> {
    .failure(CloudError(.networkFailure, "the server went away"))
  }

  /// The server's process ends at once, with or without its machine's power, and starts again.
  func endProcess() {
    guard isOnDisk else { return }
    let isCut = contents.withLock { contents in
      let isCut = contents.random.chance(0.5)
      if isCut { contents.powerCuts += 1 } else { contents.kills += 1 }
      return isCut
    }
    if comeBack(afterPowerCut: isCut) { checkDurability() }
  }

  /// Opens the file as the next process finds it; returns whether it could.
  private func comeBack(afterPowerCut isCut: Bool) -> Bool {
    let (old, disk) = contents.withLock { contents in
      contents.observations = []
      let disk = contents.disk.map {
        isCut ? $0.crash(seed: contents.random.next()) : $0.restarted()
      }
      return (contents.server, disk)
    }
    do {
      let server = try open(disk, seed &+ 1)
      contents.withLock { contents in
        contents.server = server
        contents.disk = disk
      }
      // What a dead process does later happens on a disk that nobody will see.
      old.close()
      observePushes()
      return true
    } catch {
      findings.report("I19", "the server does not open after its end: \(error)")
      return false
    }
  }

  /// I18: whatever was acknowledged is there, and nothing else.
  private func checkDurability() {
    do {
      for account in 1...layout.users.count {
        guard try server.user(of: Self.account(account)) == layout.users[account - 1] else {
          return findings.report("I18", "account \(account) has become another user")
        }
        try findings.compareStorage(
          "I18", of: account, in: layout, answered: records(for: account, .private)
        ) { zone in try records(in: zone, of: account) }
      }
    } catch {
      findings.report("I18", "what was stored can't be read after a restart: \(error)")
    }
  }
}
