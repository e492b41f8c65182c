import CloudSync
import Foundation
import SyncSupport
import TabStore

/// A mistake stores have really been made with, built around the tabs to prove that it is seen.
package enum PlantedStoreBug: String, Hashable, Sendable, CaseIterable {
  /// After a conflict that the local version wins, nothing is sent again.
  case forgetAfterConflict
  /// At equal dates each device keeps its own version.
  case tieByDevice
  /// A save that was accepted settles an edit made since.
  case settleTooEarly
  /// What the cloud brought is not written down before the engine's state is.
  case stateBeforeItems
}

/// The real tabs with a mistake around them.
final class BuggyTabs: SyncedStore {
  private let tabs: TabStore
  private let bug: PlantedStoreBug

  init(_ tabs: TabStore, _ bug: PlantedStoreBug) {
    self.tabs = tabs
    self.bug = bug
  }

  var recordType: CloudSyncEngine.RecordType { tabs.recordType }
  func connect(to recorder: any ChangeRecorder) { tabs.connect(to: recorder) }
  func changesToSend() throws -> (saves: [UUID], deletes: [UUID]) { try tabs.changesToSend() }
  func markEverythingUnsent() { tabs.markEverythingUnsent() }
  func copyFields(of id: UUID, onto record: CKRecord) -> Bool {
    tabs.copyFields(of: id, onto: record)
  }
  func isUnsent(_ id: UUID) -> Bool { tabs.isUnsent(id) }
  func forgetEverything() throws { try tabs.forgetEverything() }

  func writeDown() throws {
    if bug != .stateBeforeItems { try tabs.writeDown() }
  }

  func take(_ news: [CloudNews]) -> [Verdict] {
    news.map { item in
      if case .fetched(let record) = item, keepsOwn(record) {
        return Verdict(.save, resolution: .localWon)
      }
      if case .conflict(let record) = item, keepsOwn(record) {
        return Verdict(.save, resolution: .localWon)
      }
      if case .saved(let record) = item, bug == .settleTooEarly { settle(record) }
      guard let verdict = tabs.take([item]).first else { return Verdict(.ignore) }
      if case .conflict(let record) = item, bug == .forgetAfterConflict, verdict.duty == .save {
        settle(record)
        return Verdict(.none)
      }
      return verdict
    }
  }

  /// Lets the store believe that the cloud has what it holds.
  private func settle(_ record: CKRecord) {
    guard let id = UUID(uuidString: record.recordID.recordName), tabs.isUnsent(id) else { return }
    let own = CKRecord(recordType: record.recordType, recordID: record.recordID)
    if tabs.copyFields(of: id, onto: own) { _ = tabs.take([.saved(own)]) }
  }

  private func keepsOwn(_ record: CKRecord) -> Bool {
    guard bug == .tieByDevice, let theirs = CloudTabRecord(record), tabs.isUnsent(theirs.id),
      let mine = tabs.tab(theirs.id)
    else { return false }
    return mine.lastModified == theirs.lastModified && CloudTabRecord(mine) != theirs
  }
}
