import CloudSync
import Foundation
import Synchronization

extension ListsApp {
  /// Shares a list with everyone who knows the URL, or changes how it is shared.
  @discardableResult
  func share(
    _ id: CKRecord.ID, _ permission: CKShare.ParticipantPermission = .readWrite
  ) async throws -> CKShare {
    guard let engine = engine(.private) else { throw ListsError.stopped }
    guard let row = contents.withLock({ $0.rows[id] }) else { throw ListsError.notThere }
    let table = try table(row.type)
    if table.isPrivate { throw ListsError.privateTable(table.name) }
    if let parent = row.parent { throw ListsError.notRoot(parent: parent.recordName) }
    try await engine.sendChanges()
    let root = try await container.privateCloudDatabase.record(for: id)
    var known: CKShare?
    if let reference = root.share {
      known = try await container.privateCloudDatabase.record(for: reference.recordID) as? CKShare
    }
    let share = known ?? CKShare(rootRecord: root)
    share[CKShare.SystemFieldKey.title] = row.values["title"]
    share.publicPermission = permission
    let (saved, _) = try await container.privateCloudDatabase.modifyRecords(
      saving: [root, share], deleting: [])
    for result in saved.values { _ = try result.get() }
    contents.withLock { contents in
      contents.shares[share.recordID] = share
      contents.rows[id]?.server = root
    }
    return share
  }

  /// Ends the sharing of a list; what it holds stays.
  func unshare(_ id: CKRecord.ID) async throws {
    let share = contents.withLock { contents in
      contents.shares.keys.first { contents.rows[id]?.server?.share?.recordID == $0 }
    }
    guard let share else { throw ListsError.notShared }
    try await container.privateCloudDatabase.deleteRecord(withID: share)
    contents.withLock { $0.shares[share] = nil }
    try await engine(.private)?.fetchChanges()
  }

  /// Joins the list behind a URL and fetches it.
  func accept(_ url: URL) async throws {
    let metadata = try await container.shareMetadata(for: url)
    try await container.accept(metadata)
    try await engine(.shared)?.fetchChanges()
  }
}
