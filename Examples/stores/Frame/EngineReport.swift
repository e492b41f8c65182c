import CommandLineKit
import SyncSupport

extension SyncReport {
  /// The report of a sync of a ``SyncedStore``: what changed in `activity` since `before`.
  init(
    _ store: String, _ activity: SyncedStore.Activity, since before: SyncedStore.Activity,
    unsent: Int
  ) {
    let sent = activity.saved - before.saved
    let deletionsSent = activity.deleted - before.deleted
    let received = activity.received - before.received
    let deletionsReceived = activity.removed - before.removed
    let conflicts = Array(activity.conflicts.dropFirst(before.conflicts.count))
    var parts = ["sent \(sent), received \(received)"]
    if deletionsSent + deletionsReceived > 0 {
      parts.append("deletions sent \(deletionsSent), received \(deletionsReceived)")
    }
    let real = conflicts.filter { $0.resolution != .equal }
    if !real.isEmpty {
      let won = real.filter { $0.resolution == .clientWon }.count
      parts.append(
        "\(count(real.count, "conflict")): \(won) kept this device's version, "
          + "\(real.count - won) the other one")
    }
    if unsent > 0 { parts.append("\(count(unsent, "change")) not sent yet") }
    self.init(
      [
        "store": store, "sent": sent, "deletionsSent": deletionsSent, "received": received,
        "deletionsReceived": deletionsReceived, "conflicts": conflicts, "unsent": unsent,
      ], "\(store): " + parts.joined(separator: " · "))
  }
}
