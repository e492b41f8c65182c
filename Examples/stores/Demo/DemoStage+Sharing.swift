import CloudSync
import CommandLineKit
import Foundation
import SyncSupport
import SyncedStore

private struct FolderNote: SyncedItem {
  static let recordType = "Note"

  var recordName: String
  var text: String

  init(_ name: String, _ text: String) { (recordName, self.text) = (name, text) }

  init?(_ record: CKRecord) {
    self.init(record.recordID.recordName, record["text"] as? String ?? "")
  }

  func copy(to record: CKRecord) { record["text"] = text }
}

extension DemoStage {
  /// Anna shares a folder with ben, who reads, writes, loses the permission to write, and leaves.
  mutating func share() async throws {
    begin("anna shares a folder with ben")
    let (phone, tablet) = (folders("phone", of: "anna"), folders("tablet", of: "ben"))
    let zone = CKRecordZone.ID(zoneName: "Folder")
    let anna = try open(zone, on: "phone", phone, .private)
    for (name, text) in [
      ("recipes", "Recipes"), ("bread", "Flour, water, salt"), ("soup", "Leeks, stock"),
    ] {
      try anna.save(FolderNote(name, text))
    }
    let guest = try await phone.shareParticipant(
      forUserRecordID: try await tablet.userRecordID())
    guest.permission = .readWrite
    let share = try await anna.share { share in
      share[CKShare.SystemFieldKey.title] = "Recipes"
      share.addParticipant(guest)
    }
    guard let url = share.url else { throw ToolError("the share got no URL") }
    tell("the phone shares 3 records, ben is invited to write: \(url.absoluteString)")

    let theirs = try await SyncedStore.accept(url, in: tablet)
    let ben = try open(theirs, on: "tablet", tablet, .shared)
    try await ben.sync()
    check(notes(ben).count == 3, "ben has the folder and its two notes")
    let owner = try await phone.userRecordID().recordName
    check(theirs.ownerName == owner, "the folder is anna's")
    tell("ben accepts on a tablet: \(count(notes(ben).count, "record")) in his shared database")

    try ben.save(FolderNote("bread", "Flour, water, salt, time"))
    try ben.save(FolderNote("cake", "Rhubarb"))
    try await ben.sync()
    try await anna.sync()
    let isThere =
      notes(anna)["bread"] == "Flour, water, salt, time"
      && notes(anna)["cake"] == "Rhubarb"
    check(isThere, "anna has what ben wrote")
    tell("ben edits a note and adds one; both are on anna's phone: \(yesOrNo(isThere))")

    try await anna.share { share in
      for person in share.participants where person.role != .owner { person.permission = .readOnly }
    }
    try ben.save(FolderNote("cake", "Sugar"))
    var refusal: CKError?
    do { try await ben.sendChanges() } catch let error as CKError { refusal = error.leading }
    check(refusal?.code == .permissionFailure, "a reader can't write")
    tell(
      "anna lets him only read; his next edit is refused: " + (refusal.map { words($0) } ?? "no"))
    try await anna.sync()
    check(notes(anna)["cake"] == "Rhubarb", "anna's note is as it was")

    try await ben.endSharing()
    try await ben.sync()
    try await anna.sync()
    check(notes(ben).isEmpty && notes(anna).count == 4, "ben left, and anna keeps her folder")
    tell(
      "ben leaves: \(count(notes(ben).count, "record")) with him, \(notes(anna).count) with anna")
  }

  /// A container beside the stores', on the device called `name`.
  private func folders(_ name: String, of account: String) -> CKContainer {
    CKContainer(
      identifier: "\(cloud.container).folders",
      transport: cloud.device(name, account: account).transport)
  }

  private func open(
    _ zone: CKRecordZone.ID, on name: String, _ container: CKContainer, _ scope: CKDatabase.Scope
  ) throws -> SyncedStore {
    let store = try SyncedStore(
      zoneID: zone, directory: place.item("folder-\(name)"),
      types: [SyncedType(FolderNote.self, merging: .serverWins)])
    store.connect(to: container, scope: scope, automaticallySync: false)
    try store.start()
    return store
  }

  /// The texts of the folder and its notes by name.
  private func notes(_ store: SyncedStore) -> [String: String] {
    let notes: [FolderNote] = store.items()
    return Dictionary(notes.map { ($0.recordName, $0.text) }) { first, _ in first }
  }
}
