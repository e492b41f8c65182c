import CloudSync
import Records
import Synchronization

/// What an app does in its callbacks that a careful one would not.
struct AppHabits: Sendable {
  /// How often it adds what it holds again, and takes back what never was, inside a callback.
  var fidgets = 0.0
  /// How often it calls what it must not call inside a callback.
  var reenters = 0.0
  /// How often it cancels everything inside a callback.
  var cancels = 0.0

  /// The habits of a careful app.
  static let none = AppHabits()

  /// Habits that a seed decides.
  init(_ random: inout SeededRandom) {
    guard random.chance(0.3) else { return }
    fidgets = random.chance(0.5) ? 0.2 : 0
    reenters = random.chance(0.5) ? 0.1 : 0
    cancels = random.chance(0.3) ? 0.03 : 0
  }

  private init() {}
}

extension EngineApp {
  /// Does what the app's habits are, inside a callback.
  func misbehave(_ engine: CKSyncEngine) async {
    let (fidgets, reenters, cancels) = contents.withLock { contents in
      contents.isCalm
        ? (false, false, false)
        : (
          contents.random.chance(habits.fidgets), contents.random.chance(habits.reenters),
          contents.random.chance(habits.cancels)
        )
    }
    if fidgets {
      // Adding what is wanted anyway, and taking back what nobody wanted, changes nothing.
      use(engine) { $0.readdDirty() }
      let stranger = CKRecord.ID(RecordID(name: "nobody's", zone: layout.zones[0]))
      engine.state.remove(pendingRecordZoneChanges: [.saveRecord(stranger)])
      _ = engine.state.zoneIDsWithUnfetchedServerChanges
    }
    if reenters {
      // Both would wait for this very callback; they must refuse.
      let fetched: Void? = try? await engine.fetchChanges()
      let sent: Void? = try? await engine.sendChanges()
      if fetched != nil || sent != nil {
        findings.report("I14", "\(name): an operation inside a callback is not refused")
      }
    }
    if cancels {
      journal.note("\(name) cancels inside a callback")
      await engine.cancelOperations()
    }
  }
}
