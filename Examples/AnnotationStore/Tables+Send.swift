import Foundation
import SyncSupport

/// The result of a batch that was sent.
struct SendReport: Sendable {
  /// The number of changes that are done, or were merged.
  var settled = 0
  /// A temporary failure that the rest of this sync would have, too.
  var failure: CKError?
  var isZoneLost = false
}

/// The changes to send, and the server's answers.
extension Tables {
  /// The items whose change can be sent now: removals with children first, then saves with parents
  /// first.
  var itemsToSend: [StoredItem] {
    let items = waiting.filter { item in
      item.dispute == nil && item.refusal == nil
        && (item.isPurged || (!isStorageFull && item.mine != nil))
    }
    func ordered(_ isPurged: Bool) -> [StoredItem] {
      ItemKind.allCases.flatMap { kind in
        items.filter { $0.kind == kind && $0.isPurged == isPurged }
      }
    }
    return ordered(true).reversed() + ordered(false)
  }

  /// The server accepted a change; an edit made meanwhile stays pending.
  mutating func confirm(
    _ sent: StoredItem, _ record: CKRecord, _ policy: CKModifyRecordsOperation.RecordSavePolicy,
    _ report: inout SendReport
  ) {
    report.settled += 1
    metrics.uploadCount += 1
    guard var item = items[sent.id] else { return }
    var fields = record.plainFields
    fields["mediaAsset"] = sent.fields["mediaAsset"]
    var copy = CloudCopy(record, fields: fields)
    // The changes of others under a save that overwrites are not known here: they are fetched.
    if policy == .changedKeys { copy.tag = nil }
    item.cloud = copy
    item.offered = nil
    item.refusal = nil
    if item.change == sent.change {
      item.mine = nil
      item.change = nil
    } else {
      item.mine = item.mine?.signed(by: fields[text: "ownerID"] ?? "")
    }
    replace(item)
  }

  /// The server does not have the item any more.
  mutating func confirmRemoval(_ sent: StoredItem, _ report: inout SendReport) {
    report.settled += 1
    metrics.uploadCount += 1
    remove(sent.id)
  }

  /// The server did not carry out a change.
  ///
  /// - Parameter theirs: the server's version, if it has another one.
  mutating func takeFailure(
    of sent: StoredItem, _ error: CKError, _ theirs: StoredItem?, at date: Date,
    _ report: inout SendReport
  ) {
    switch (error.code, sent.isPurged) {
    case (.batchRequestFailed, _), (.serverRecordChanged, true), (.limitExceeded, true): break
    case (.quotaExceeded, _): report.failure = error
    case (.unknownItem, true), (.zoneNotFound, true), (.userDeletedZone, true):
      confirmRemoval(sent, &report)
    case (.referenceViolation, true): returnToTrash(sent, &report)
    case (.serverRecordChanged, false): if let theirs { note(take(theirs, at: date), &report) }
    case (.unknownItem, false): note(takeRemoval(sent.id, owner: sent.owner, at: date), &report)
    case (.zoneNotFound, false), (.userDeletedZone, false):
      // The owner of a shared zone ended the sharing; the next fetch removes the rest, too.
      if sent.owner == nil { report.isZoneLost = true } else { remove(sent.id) }
    case (.referenceViolation, false) where sent.parent.flatMap { items[$0]?.change } != nil:
      // Its parent was not saved either: both are sent again.
      break
    case _ where RetryPlan.isRetried(error): report.failure = report.failure ?? error
    default: refuse(sent, error)
    }
  }

  private mutating func note(_ merge: TakeResult, _ report: inout SendReport) {
    report.settled += 1
    if merge.isConflict { metrics.conflictCount += 1 }
  }

  /// Another device added a child to an item that this device removes permanently.
  ///
  /// A child that is being removed, too, goes first. Otherwise the item stays in the trash, and
  /// emptying it finds it again.
  private mutating func returnToTrash(_ sent: StoredItem, _ report: inout SendReport) {
    guard let item = items[sent.id],
      !childIDs(of: item.id).contains(where: { items[$0]?.isPurged == true })
    else { return }
    report.settled += 1
    put(item, waits: item.mine == nil ? nil : .save)
  }

  /// Keeps an item that the server refuses, with the reason; an edit made meanwhile is sent.
  mutating func refuse(_ sent: StoredItem, _ error: CKError) {
    metrics.errorCount += 1
    guard var item = items[sent.id], item.change == sent.change else { return }
    item.refusal = Refusal(code: error.code.rawValue, message: Self.words(error))
    replace(item)
  }

  private static func words(_ error: CKError) -> String {
    switch error.code {
    case .limitExceeded:
      "It is too large for the cloud; it stays on this device. Make it or its file smaller."
    case .permissionFailure:
      "This account may not change it any more; the edit stays on this device. Ask the owner, or "
        + "discard the edit."
    case .referenceViolation:
      "What it hangs under is gone from the cloud; move it to another layer."
    case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
      "Its file can't be read; attach it again."
    default:
      "The cloud refused it: \(error.localizedDescription) It stays on this device."
    }
  }
}

extension Fields {
  /// The fields with an author, if they have none.
  func signed(by owner: String) -> Fields {
    var signed = self
    if self[text: "ownerID"] == "" { signed[text: "ownerID"] = owner }
    return signed
  }
}
