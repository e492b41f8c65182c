import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine {
  /// Follows a sign-in.
  ///
  /// An engine that starts without state reports this too, so the account may be the same.
  func signedIn(_ user: CKRecord.ID) -> [RecordWish] {
    let owner = state.withLock { $0.settings.owner }
    if let owner, owner != user.recordName {
      records.resetAccount()
      wipe()
    }
    take(ownership: user)
    return sendEverything()
  }

  /// Follows a sign-out, or a change of the account.
  func switchAccount(to user: CKRecord.ID?) -> [RecordWish] {
    wipe()
    if let user { take(ownership: user) }
    return []
  }

  /// Follows the loss of the zone.
  func zoneDisappeared(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) -> [RecordWish] {
    switch reason {
    case .deleted, .purged:
      // The user removed the data: it goes here too and is not sent again.
      forgetStores()
      attempt { try $0.metadata.clear() }
      attempt { try $0.kept.clear() }
      return [.dropZone(zoneID)]
    case .encryptedDataReset:
      // The server lost its keys; this device has all the data.
      return uploadEverything()
    }
  }

  /// Creates the zone and sends everything: no tag of a zone that is gone can be right.
  func uploadEverything() -> [RecordWish] {
    attempt { try $0.metadata.clear() }
    return sendEverything()
  }

  private func sendEverything() -> [RecordWish] {
    for store in stores { store.markEverythingUnsent() }
    var wishes: [RecordWish] = [.saveZone(zoneID)]
    attempt(records.stateFile) { wishes += try everythingUnsent(in: records.scope) }
    return wishes
  }

  /// Removes all data of the previous account, from memory and from the disk.
  ///
  /// The stores go first and the owner's name last: after a crash at any point either the event
  /// comes again, or the name tells the next start that the data is of another account.
  private func wipe() {
    forgetStores()
    attempt { try $0.metadata.clear() }
    attempt { try $0.kept.clear() }
    attempt(records.stateFile) {
      try records.forgetState()
      try settingsFile.file.removeCopies()
      try changeSettings { $0.owner = nil }
    }
  }

  private func take(ownership user: CKRecord.ID) {
    attempt(settingsFile.file) { try changeSettings { $0.owner = user.recordName } }
  }

  private func forgetStores() {
    for store in stores {
      do {
        try store.forgetEverything()
      } catch {
        records.tell(store.recordType.rawValue, code: 0, "\(error)")
      }
    }
  }

  private func attempt(_ body: (inout State) throws -> Void) {
    attempt(records.stateFile) { try state.withLock { try body(&$0) } }
  }

  private func attempt(_ file: AtomicFile, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      records.tell(file.url.lastPathComponent, code: 0, "\(error)")
    }
  }
}
