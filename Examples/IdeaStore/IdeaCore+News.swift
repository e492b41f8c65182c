import CloudSync
import Foundation
import SyncSupport

/// News of the cloud, one record at a time.
extension IdeaCore {
  /// Takes in a record of the cloud.
  ///
  /// - Returns: whether anything changed.
  @discardableResult
  func take(_ record: CKRecord, _ state: inout State) -> Bool {
    guard record.recordType == IdeaRecord.recordType else { return false }
    let outcome = state.shelf.take(record, at: now().wholeMilliseconds)
    note(outcome, record.recordID.recordName, &state)
    return outcome != .known
  }

  /// Takes in that the cloud has no such record any more.
  ///
  /// - Returns: whether anything changed.
  @discardableResult
  func takeDeletion(of name: String, _ state: inout State) -> Bool {
    let outcome = state.shelf.takeDeletion(of: name, at: now().wholeMilliseconds)
    note(outcome, name, &state)
    return outcome != .known
  }

  private func note(_ outcome: IdeaShelf.Outcome, _ name: String, _ state: inout State) {
    let id = UUID(uuidString: name)
    func conflict(_ message: String) {
      state.conflicts += 1
      log(.conflict, message, ideaID: id, &state)
    }
    switch outcome {
    case .known: break
    case .took, .removed: state.received += 1
    case .cloudWon:
      state.received += 1
      conflict("Changed here and elsewhere; the later change, elsewhere, stays.")
    case .localWon: conflict("Changed here and elsewhere; the later change, here, stays.")
    case .survived: conflict("Deleted elsewhere while it was changed here; it is made anew.")
    case .unreadable(let error):
      log(.failure, "A record was left alone: \(error).", ideaID: id, &state)
    }
  }
}
