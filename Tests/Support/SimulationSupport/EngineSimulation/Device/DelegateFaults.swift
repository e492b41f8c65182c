import CloudSync
import Records
import Synchronization

/// Calls of an app in its callbacks that a careful app does not make.
struct DelegateFaults: Sendable {
  /// The probability of adding existing changes and removing missing ones in a callback.
  var redundantCalls = 0.0
  /// The probability of operations that are not allowed in a callback.
  var reentrantCalls = 0.0
  /// The probability of cancelling all operations in a callback.
  var cancellations = 0.0

  /// No faults.
  static let none = DelegateFaults()

  /// Faults that a seed decides.
  init(_ random: inout SeededRandom) {
    guard random.chance(0.3) else { return }
    redundantCalls = random.chance(0.5) ? 0.2 : 0
    reentrantCalls = random.chance(0.5) ? 0.1 : 0
    cancellations = random.chance(0.3) ? 0.03 : 0
  }

  private init() {}
}

extension EngineApp {
  /// Makes the calls that a careful app does not make, inside a callback.
  func misbehave(_ engine: CKSyncEngine) async {
    let (redundantCalls, reentrantCalls, cancellations) = contents.withLock { contents in
      contents.isCalm
        ? (false, false, false)
        : (
          contents.random.chance(delegateFaults.redundantCalls),
          contents.random.chance(delegateFaults.reentrantCalls),
          contents.random.chance(delegateFaults.cancellations)
        )
    }
    if redundantCalls {
      // Adding what is wanted anyway, and taking back what nobody wanted, changes nothing.
      use(engine) { $0.readdDirty() }
      let stranger = CKRecord.ID(RecordID(name: "nobody's", zone: layout.zones[0]))
      engine.state.remove(pendingRecordZoneChanges: [.saveRecord(stranger)])
      _ = engine.state.zoneIDsWithUnfetchedServerChanges
    }
    if reentrantCalls {
      // Both would wait for this very callback; they must refuse.
      let fetched: Void? = try? await engine.fetchChanges()
      let sent: Void? = try? await engine.sendChanges()
      if fetched != nil || sent != nil {
        findings.report("I14", "\(name): an operation inside a callback is not refused")
      }
    }
    if cancellations {
      journal.note("\(name) cancels inside a callback")
      await engine.cancelOperations()
    }
  }
}
