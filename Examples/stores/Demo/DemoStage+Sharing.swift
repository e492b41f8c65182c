import CloudSync
import CommandLineKit
import Foundation

extension DemoStage {
  /// Anna shares a folder with ben, who reads, writes, loses the permission to write, and leaves.
  mutating func share() async throws {
    begin("anna shares a folder with ben")
    let anna = SharedFolder(cloud, device: "phone", account: "anna", .private)
    let ben = SharedFolder(cloud, device: "tablet", account: "ben", .shared)
    anna.write("Recipes", as: "recipes")
    anna.write("Flour, water, salt", as: "bread", under: "recipes")
    anna.write("Leeks, stock", as: "soup", under: "recipes")
    try await anna.sync()
    let database = anna.container.privateCloudDatabase
    let root = try await database.record(
      for: CKRecord.ID(recordName: "recipes", zoneID: SharedFolder.zone.zoneID))
    let share = CKShare(rootRecord: root)
    share[CKShare.SystemFieldKey.title] = "Recipes"
    let guest = try await anna.container.shareParticipant(
      forUserRecordID: try await ben.container.userRecordID())
    guest.permission = .readWrite
    share.addParticipant(guest)
    _ = try await database.modifyRecords(saving: [root, share], deleting: [])
    guard let url = share.url else { throw ToolError("the share got no URL") }
    tell("the phone shares 3 records, ben is invited to write: \(url.absoluteString)")

    let metadata = try await ben.container.shareMetadata(for: url)
    try await ben.container.accept(metadata)
    try await ben.sync()
    check(ben.records.count == 3, "ben has the folder and its two notes")
    let owner = ben.records["recipes"]?.recordID.zoneID.ownerName ?? ""
    check(owner == metadata.ownerIdentity.userRecordID?.recordName, "the folder is anna's")
    tell("ben accepts on a tablet: \(count(ben.records.count, "record")) in his shared database")

    ben.write("Flour, water, salt, time", as: "bread", under: "recipes")
    ben.write("Rhubarb", as: "cake", under: "recipes")
    try await ben.sync()
    try await anna.sync()
    let isThere = anna.text("bread") == "Flour, water, salt, time" && anna.text("cake") == "Rhubarb"
    check(isThere, "anna has what ben wrote")
    tell("ben edits a note and adds one; both are on anna's phone: \(isThere ? "yes" : "no")")

    guard let current = try await database.record(for: share.recordID) as? CKShare else {
      throw ToolError("the share is no share")
    }
    for person in current.participants where person.role != .owner { person.permission = .readOnly }
    try await database.save(current)
    ben.write("Sugar", as: "cake", under: "recipes")
    try await ben.sync()
    let refusals = ben.refusals()
    check(refusals.map(\.code) == [.permissionFailure], "a reader can't write")
    tell(
      "anna lets him only read; his next edit is refused: "
        + (refusals.first.map { words($0) } ?? "no"))
    try await anna.sync()
    check(anna.text("cake") == "Rhubarb", "anna's note is as it was")

    let theirs = ben.records["recipes"]?.recordID.zoneID ?? SharedFolder.zone.zoneID
    try await ben.container.sharedCloudDatabase.deleteRecord(
      withID: CKRecord.ID(recordName: share.recordID.recordName, zoneID: theirs))
    try await ben.sync()
    try await anna.sync()
    check(ben.records.isEmpty && anna.records.count == 4, "ben left, and anna keeps her folder")
    tell(
      "ben leaves: \(count(ben.records.count, "record")) with him, \(anna.records.count) with anna")
  }
}
