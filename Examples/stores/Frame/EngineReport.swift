import CommandLineKit
import Foundation
import SyncSupport

/// What one sync with a ``CloudSyncEngine`` did.
struct EngineReport: SyncReport {
  var store: String
  var sent: Int
  var deletionsSent: Int
  var received: Int
  var deletionsReceived: Int
  var conflicts: [SyncActivity.Conflict]
  var unsent: Int

  /// What was done since `before`.
  init(
    _ store: String, _ activity: SyncActivity, since before: SyncActivity = SyncActivity(),
    unsent: Int
  ) {
    self.store = store
    sent = activity.saved - before.saved
    deletionsSent = activity.deleted - before.deleted
    received = activity.received - before.received
    deletionsReceived = activity.removed - before.removed
    conflicts = Array(activity.conflicts.dropFirst(before.conflicts.count))
    self.unsent = unsent
  }

  var words: String {
    var parts = ["sent \(sent), received \(received)"]
    if deletionsSent + deletionsReceived > 0 {
      parts.append("deletions sent \(deletionsSent), received \(deletionsReceived)")
    }
    let real = conflicts.filter { $0.resolution != .equal }
    if !real.isEmpty {
      let won = real.filter { $0.resolution == .localWon }.count
      parts.append(
        "\(count(real.count, "conflict")): \(won) kept this device's version, "
          + "\(real.count - won) the other one")
    }
    if unsent > 0 { parts.append("\(count(unsent, "change")) not sent yet") }
    return "\(store): " + parts.joined(separator: " · ")
  }
}
