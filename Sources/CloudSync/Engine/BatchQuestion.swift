import Records
import SyncMachine
import Synchronization

/// A question to the delegate for a batch, and the readings of the pending changes in its answer.
///
/// The first reading may list only the front of the pending changes; see `ShownLimit`.
final class BatchQuestion: Sendable {
  private struct Readings {
    var count = 0
    var list: [CKSyncEngine.PendingRecordZoneChange] = []
    var isPart = false
  }

  private let driver: ObjectIdentifier
  private let scope: SendScope
  private let readings = Mutex(Readings())

  /// Creates a question of `driver` for a batch in `scope`.
  init(_ driver: EngineDriver, scope: SendScope) {
    self.driver = ObjectIdentifier(driver)
    self.scope = scope
  }

  /// The list for one reading.
  ///
  /// - Returns: `nil` if `driver` did not ask this question.
  func list(by driver: EngineDriver) -> [CKSyncEngine.PendingRecordZoneChange]? {
    guard ObjectIdentifier(driver) == self.driver else { return nil }
    return readings.withLock { readings in
      readings.count += 1
      guard readings.count == 1 else { return driver.allPendingRecordZoneChanges }
      if let shown = driver.shownRecordZoneChanges(in: scope) {
        (readings.list, readings.isPart) = shown
      } else {
        readings.list = driver.allPendingRecordZoneChanges
      }
      return readings.list
    }
  }

  /// Ends the question: the readings of the app, compared with its answer.
  func shown(for batch: RecordBatch?) -> ShownChanges {
    readings.withLock { readings in
      let reach = batch?.reach(in: readings.list.lazy.map(\.value), scope: scope)
      // A task of the app may keep the question for long.
      readings.list = []
      return ShownChanges(readings: readings.count, isPart: readings.isPart, reach: reach)
    }
  }
}
