import Foundation
import SyncSupport

/// Changes from the cloud, and its answers to changes of this device.
extension IdeaState {
  /// Takes in a record of the cloud.
  ///
  /// - Returns: whether anything changed.
  @discardableResult
  mutating func take(_ record: CKRecord) -> Bool {
    guard record.recordType == IdeaRecord.recordType else { return false }
    let outcome = shelf.take(record, at: now().roundedToMilliseconds)
    return note(outcome, record.recordID.recordName)
  }

  /// Takes in that the cloud has no such record any more.
  ///
  /// - Returns: whether anything changed.
  @discardableResult
  mutating func takeDeletion(of name: String) -> Bool {
    note(shelf.takeDeletion(of: name, at: now().roundedToMilliseconds), name)
  }

  private mutating func note(_ outcome: IdeaShelf.Outcome, _ name: String) -> Bool {
    var conflict: String?
    switch outcome {
    case .known: return false
    case .took, .removed: activity.received += 1
    case .cloudWon:
      activity.received += 1
      conflict = "Changed here and elsewhere; the later change, elsewhere, stays."
    case .localWon: conflict = "Changed here and elsewhere; the later change, here, stays."
    case .survived: conflict = "Deleted elsewhere while it was changed here; it is made anew."
    case .unreadable(let error):
      note(.failure, "A record was left alone: \(error).", ideaID: UUID(uuidString: name))
    }
    if let conflict {
      activity.conflicts += 1
      note(.conflict, conflict, ideaID: UUID(uuidString: name))
    }
    return true
  }

  // MARK: Sending

  /// The answer of the cloud to one change: the saved record, nothing for a deletion, or an error.
  typealias Answer = Result<CKRecord?, CKError>

  /// The result of one request.
  struct SendReport: Sendable {
    /// The number of changes that need not be sent again.
    var settled = 0
    /// The first temporary error.
    var passing: CKError?
  }

  /// The record to save for a row: the one last seen with the idea's fields, or a new one, with
  /// the fields this version does not know, when the cloud has none.
  func record(for row: IdeaRow) -> CKRecord {
    let last = row.archive.flatMap { CKRecord(archive: $0) }
    let record: CKRecord
    if row.tag != nil, let last {
      record = last
    } else {
      record = CKRecord(recordType: IdeaRecord.recordType, recordID: row.recordID)
      for key in last?.allKeys() ?? [] { record[key] = last?.object(forKey: key) }
    }
    row.idea?.copyFields(onto: record, syncedAt: now())
    return record
  }

  /// Settles the changes of a request as far as the cloud answered.
  mutating func take(_ answers: [(row: IdeaRow, answer: Answer)]) -> SendReport {
    var report = SendReport()
    var failures: [(row: IdeaRow, error: CKError)] = []
    for (row, answer) in answers {
      switch answer {
      case .success(let record): confirm(row, record, &report)
      case .failure(let error): failures.append((row, error))
      }
    }
    if report.settled > 0 {
      activity.sent += report.settled
      note(.upload, "Changes that reached the cloud: \(report.settled).")
    }
    for (row, error) in failures { fail(row, error, &report) }
    return report
  }

  private mutating func confirm(
    _ sent: IdeaRow, _ record: CKRecord?, _ report: inout SendReport
  ) {
    report.settled += 1
    guard var row = shelf[sent.name] else { return }
    row.tag = record?.recordChangeTag
    row.archive = record.map(IdeaRecord.archive) ?? row.archive
    row.remoteVersion = (record?["version"] as? Int64).map { Int($0) }
    row.lastSyncedAt = now().roundedToMilliseconds
    // A change made during the request still has to be sent.
    if row.changeNumber == sent.changeNumber { row.isPending = false }
    shelf.put(row)
  }

  private mutating func fail(_ sent: IdeaRow, _ error: CKError, _ report: inout SendReport) {
    let name = sent.name
    guard shelf[name] != nil else { return }
    switch IdeaErrorRule.rule(for: error.code).handling {
    case .resolve:
      if let record = error.serverRecord {
        report.settled += take(record) ? 1 : 0
      } else {
        wants.names.insert(name)
        report.passing = report.passing ?? error
      }
    case .makeAnew where sent.deletedAt != nil: confirm(sent, nil, &report)
    case .makeAnew: report.settled += takeDeletion(of: name) ? 1 : 0
    case .askForSpace:
      guard !activity.isStorageFull else { return }
      activity.isStorageFull = true
      note(.failure, "The iCloud storage is full; ideas wait until there is space.")
    case .retry, .waitAMinute, .workOffline: report.passing = report.passing ?? error
    // A request that is too large is halved; one idea that is too large is refused.
    case .sendAgain where error.code != .limitExceeded: break
    case .sendAgain, .holdBack:
      refused[name] = sent.changeNumber
      report.settled += 1
      note(
        .failure, "The cloud refuses it: \(error.code) (\(error.code.rawValue)). It stays here.",
        ideaID: UUID(uuidString: name))
    }
  }
}
