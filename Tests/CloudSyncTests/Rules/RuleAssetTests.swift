import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@testable import CloudSync

/// Saves of records whose file is missing, changes or can't be read.
///
/// See CS-36 to CS-43.
@Suite("Files that are not as they should be")
struct RuleAssetTests {
  private let server = LoopbackServer()

  private func database(_ device: String) -> CKDatabase {
    CKContainer(
      identifier: "iCloud.files", transport: server.device(device, signedInAs: "alice")
    ).privateCloudDatabase
  }

  private func code(_ file: URL) async -> CKError.Code? {
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    record["image"] = CKAsset(fileURL: file)
    do {
      _ = try await database("phone").save(record)
      return nil
    } catch { return (error as? CKError)?.code }
  }

  /// Proves CS-36.
  @Test("A folder or a missing file as an asset is reported at the save and not before")
  func missingAssetFileFailsAtSave() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(await code(folder) == .assetNotAvailable)
    #expect(await code(folder.appendingPathComponent("none")) == .assetFileNotFound)
  }

  /// Proves CS-37.
  @Test("A file whose length changes before it is read fails with assetFileModified")
  func changedAssetFileIsReported() async {
    #if os(Linux)
      // The system says of these that they are empty, and then gives text.
      #expect(await code(URL(fileURLWithPath: "/proc/self/status")) == .assetFileModified)
    #else
      #expect(CKError.Code.assetFileModified.rawValue == 17)
    #endif
  }

  /// Proves CS-149.
  @Test("A file that cannot be downloaded leaves its record in the feed, without the file")
  func failedDownloadKeepsRecordInFeed() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("file-\(UUID().uuidString)")
    try Data("x".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let phone = database("phone")
    let zone = try await phone.save(CKRecordZone(zoneName: "Photos"))
    let records = ["a", "b"].map {
      CKRecord(
        recordType: "Photo", recordID: CKRecord.ID(recordName: $0, zoneID: zone.zoneID))
    }
    for record in records { record["image"] = CKAsset(fileURL: file) }
    _ = try await phone.modifyRecords(saving: records, deleting: [])
    server.controls.fail(
      with: .assetNotAvailable, in: RequestScope(kind: .downloadAsset, device: "desk"))
    let changes = try await database("desk").recordZoneChanges(
      inZoneWith: zone.zoneID, since: nil)
    let files = try changes.modificationResultsByID.values.map {
      ((try $0.get().record["image"]) as? CKAsset)?.fileURL != nil
    }
    #expect(files.count == 2 && files.contains(false), "both came, one without its file: \(files)")
  }

  /// Proves CS-149.
  @Test(
    "A file that cannot be downloaded fails its record in the result of a query",
    arguments: [CloudError.Code.assetNotAvailable, .unknownItem])
  func failedDownloadFailsRecordOfQuery(code: CloudError.Code) async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("file-\(UUID().uuidString)")
    try Data("x".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let records = ["a", "b"].map {
      CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: $0))
    }
    for record in records { record["image"] = CKAsset(fileURL: file) }
    _ = try await database("phone").modifyRecords(saving: records, deleting: [])
    server.controls.fail(
      with: code, in: RequestScope(kind: .downloadAsset, device: "desk"))
    let query = CKQuery(recordType: "Photo", predicate: NSPredicate(value: true))
    let matches = try await database("desk").records(matching: query).matchResults
    #expect(matches.count == 2)
    let errors = matches.compactMap { _, result -> CKError.Code? in
      if case .failure(let error) = result { (error as? CKError)?.code } else { nil }
    }
    #expect(errors == [code])
  }

  @Test("The files of a page that fails do not stay on the device")
  func filesOfAFailedPageAreRemoved() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let records = try (0..<8).map { number in
      let file = folder.appendingPathComponent("file\(number)")
      try Data("\(number)".utf8).write(to: file)
      let record = CKRecord(recordType: "Photo")
      record["image"] = CKAsset(fileURL: file)
      return record
    }
    _ = try await database("phone").modifyRecords(saving: records, deleting: [])
    let staged = folder.appendingPathComponent("staged")
    let desk = AssetTransport(
      server.device("desk", signedInAs: "alice"), staging: AssetStaging(root: staged))
    let call = CloudCall(
      container: "iCloud.files", database: .private, requestID: "fetch",
      request: .fetchRecords(FetchRecords(ids: records.map(\.recordID.value))))
    func files() -> Int {
      let found = FileManager.default.enumerator(at: staged, includingPropertiesForKeys: nil)
      return (found?.allObjects ?? []).count { ($0 as? URL)?.hasDirectoryPath == false }
    }
    server.controls.fail(
      with: .networkFailure, in: RequestScope(kind: .downloadAsset, device: "desk"))
    let error = await #expect(throws: CloudError.self) { _ = try await desk.send(call) }
    #expect(error?.code == .networkFailure && files() == 0)
    _ = try await desk.send(call)
    #expect(files() == 8)
  }

  @Test("A page whose files the device can't store fails, and comes with its files once it can")
  func unstoredFileFailsPage() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("file")
    try Data("x".utf8).write(to: file)
    let phone = database("phone")
    let zone = try await phone.save(CKRecordZone(zoneName: "Photos"))
    let record = CKRecord(
      recordType: "Photo", recordID: CKRecord.ID(recordName: "p", zoneID: zone.zoneID))
    record["image"] = CKAsset(fileURL: file)
    _ = try await phone.save(record)
    let desk = server.device("desk", signedInAs: "alice")
    let call = CloudCall(
      container: "iCloud.files", database: .private, requestID: "fetch",
      request: .fetchZoneChanges(FetchZoneChanges(zone: ZoneID(name: "Photos"), since: nil)))
    // A folder can't be made in a file.
    let broken = AssetTransport(desk, staging: AssetStaging(root: file))
    let error = await #expect(throws: CloudError.self) { _ = try await broken.send(call) }
    #expect(error?.code == .internalError)
    let whole = AssetTransport(
      desk, staging: AssetStaging(root: folder.appendingPathComponent("staged")))
    guard case .zoneChanges(let page) = try await whole.send(call) else {
      Issue.record("no page came")
      return
    }
    guard case .asset(let asset) = page.modified.first?.fields["image"]?.value else {
      Issue.record("no file came")
      return
    }
    #expect(asset.location != nil)
  }

  @Test("A directory of files that was removed meanwhile is made again")
  func removedDirectoryIsMadeAgain() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let staging = AssetStaging(root: folder)
    let asset = Asset(checksum: "", size: 1)
    for _ in 0..<2 {
      let url = try staging.stage(AssetContent([0x78]), of: asset)
      #expect(try Data(contentsOf: url) == Data([0x78]))
      try FileManager.default.removeItem(at: folder)
    }
  }

  @Test("The first file of a process removes the directories of processes that have ended")
  func directoriesOfEndedProcessesAreRemoved() throws {
    let root = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    // No process has this number: it is above the limits of all systems.
    let (ended, running) = ("2147483646-x", "\(ProcessInfo.processInfo.processIdentifier)-x")
    for name in [ended, running] {
      try FileManager.default.createDirectory(
        at: root.appendingPathComponent(name), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    let staging = AssetStaging(root: root)
    let staged = try (0..<2).map { _ in
      try staging.stage(AssetContent([0x78]), of: Asset(checksum: "", size: 1))
    }
    let own = staged[0].deletingLastPathComponent().lastPathComponent
    let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
    #expect(Set(names) == [running, own], "both files are in one directory")
  }

  @Test("The known files of 10,000 contents are kept, and forgotten when another one is added")
  func knownFilesAreLimited() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("file-\(UUID().uuidString)")
    try Data("x".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let version = try #require(FileVersion(of: file))
    let staging = AssetStaging(root: file)
    func isKnown(_ number: Int) -> Bool {
      staging.file(of: Asset(checksum: "\(number)", size: 1)) == file
    }
    for number in 1...10_000 { staging.remember(file, version, as: "\(number)") }
    #expect(isKnown(1) && isKnown(10_000))
    staging.remember(file, version, as: "10001")
    #expect(!isKnown(1) && !isKnown(10_000) && isKnown(10_001))
    #expect(staging.file(of: Asset(checksum: "10001", size: 2)) == nil, "another length")
  }

  @Test("After a failed transfer of a file no other one begins")
  func failedTransferEndsTheOthers() async {
    let transport = AssetTransport(ScriptedTransport { _ in .currentUser(UserID("_a")) })
    let begun = Mutex(0)
    let error = await #expect(throws: CloudError.self) {
      try await transport.forEach(Array(0..<20)) { _ in
        begun.withLock { $0 += 1 }
        return CloudError(.networkFailure, "")
      }
    }
    #expect(error?.code == .networkFailure)
    #expect(begun.withLock { $0 } == AssetTransport.filesAtOnce)
  }

  @Test("Each user of a machine stages files in a directory of its own")
  func usersStageFilesApart() {
    #expect(AssetStaging.root(ofUser: 1) != AssetStaging.root(ofUser: 2))
  }

  /// Proves CE-140.
  @Test(
    "A directory in which others can write, and a link to one, is not used for files",
    arguments: [false, true])
  func directoryOfOthersIsNotUsed(isLink: Bool) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let root = folder.appendingPathComponent("staged")
    let place = isLink ? folder.appendingPathComponent("elsewhere") : root
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    if isLink {
      try FileManager.default.createSymbolicLink(at: root, withDestinationURL: place)
    } else {
      #expect(chmod(root.path, 0o777) == 0)
    }
    let staging = AssetStaging(root: root)
    let urls = try (0..<2).map { _ in
      try staging.stage(AssetContent([0x78]), of: Asset(checksum: "", size: 1))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    for url in urls { #expect(try Data(contentsOf: url) == Data([0x78])) }
    let own = urls[0].deletingLastPathComponent().deletingLastPathComponent()
    #expect(own.deletingLastPathComponent().path == folder.path)
    let mode = try FileManager.default.attributesOfItem(atPath: own.path)[.posixPermissions]
    #expect(mode as? Int == 0o700)
  }

  @Test(
    "Content is compared with a checksum of its bytes, and not with another service's signature",
    arguments: [
      ("AeKd/+fY0kdbmNp3lqMHvXgJ9eTk", true),
      ("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", true),
      ("3e711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", false),
    ])
  func foreignSignatureIsAccepted(_ checksum: String, isFound: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let id = RecordID(name: "p", zone: .default)
    var record = Record(id: id, type: "Photo")
    record.fields["image"] = Field(.asset(Asset(checksum: checksum, size: 1)))
    let transport = ScriptedTransport { [record] request in
      if case .downloadAsset = request { return .assetContent(AssetContent([0x78])) }
      return .records([ItemResult(id: id, .success(record))])
    }
    let call = CloudCall(
      container: "iCloud.files", database: .private, requestID: "fetch",
      request: .fetchRecords(FetchRecords(ids: [id])))
    let reply = try? await AssetTransport(transport, staging: AssetStaging(root: folder)).send(call)
    let own = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent(own.first ?? "").path)
    #expect(own.count == 1 && files.count == (isFound ? 1 : 0), "a refused file is removed")
    guard case .records(let results)? = reply,
      case .asset(let asset) = results.first?.value?.fields["image"]?.value
    else {
      #expect(!isFound, "the file was refused")
      return
    }
    #expect(isFound && asset.location != nil)
  }

  @Test("A download of another length than its record says fails the request, and is not kept")
  func downloadOfWrongLengthIsRefused() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let id = RecordID(name: "p", zone: .default)
    // The signature of another service is not compared with the bytes.
    let image = FieldValue.asset(Asset(checksum: "AeKd/+fY0kdbmNp3lqMHvXgJ9eTk", size: 2))
    let record = Record(id: id, type: "Photo", fields: ["image": image])
    let transport = ScriptedTransport { request in
      if case .downloadAsset = request { return .assetContent(AssetContent([0x78])) }
      return .records([ItemResult(id: id, .success(record))])
    }
    let call = CloudCall(
      container: "iCloud.files", database: .private, requestID: "fetch",
      request: .fetchRecords(FetchRecords(ids: [id])))
    let assets = AssetTransport(transport, staging: AssetStaging(root: folder))
    let error = await #expect(throws: CloudError.self) { _ = try await assets.send(call) }
    #expect(error?.code == .internalError)
    #expect(transport.calls.map(\.requestID) == ["fetch", "fetch/file"])
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test("A repeated save has the same request IDs, unless its records or files have changed")
  func repeatedSaveKeepsRequestIDs() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("file-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let transport = ScriptedTransport { request in
      if case .uploadAsset(let upload) = request {
        let count = upload.content.count
        return .assetUploaded(Asset(checksum: "\(count)", size: count))
      }
      return .recordsModified(saved: [], deleted: [])
    }
    let assets = AssetTransport(transport, staging: AssetStaging(root: file))
    func requestIDs(saving name: String, with content: String) async throws -> [String] {
      try Data(content.utf8).write(to: file)
      let before = transport.calls.count
      let asset = Asset(checksum: "", size: 0, location: file.absoluteString)
      let save = RecordSave(
        id: RecordID(name: name, zone: .default), type: "Photo",
        changes: [RecordSave.Change(key: "image", field: Field(.asset(asset)))])
      let call = CloudCall(
        container: "iCloud.files", database: .private, requestID: "save",
        request: .modifyRecords(ModifyRecords(save: [save])))
      _ = try await assets.send(call)
      return transport.calls.dropFirst(before).map(\.requestID)
    }
    let first = try await requestIDs(saving: "a", with: "one")
    #expect(first.count == 2 && first[0].hasPrefix("save/file/0/3-"))
    #expect(first[1].hasPrefix("save/saved/"))
    #expect(try await requestIDs(saving: "a", with: "one") == first)
    let longer = try await requestIDs(saving: "a", with: "longer")
    #expect(longer[0] != first[0] && longer[1] != first[1])
    let other = try await requestIDs(saving: "b", with: "one")
    #expect(other[0] == first[0] && other[1] != first[1])
  }

  @Test("Saves that are all refused are not sent, and a deletion beside one is")
  func refusedSavesAreNotSent() async throws {
    let transport = ScriptedTransport { request in
      guard case .modifyRecords(let modify) = request else { return .currentUser(UserID("_a")) }
      return .recordsModified(
        saved: [], deleted: modify.delete.map { ItemResult(id: $0, .success(Done())) })
    }
    let assets = AssetTransport(transport)
    let missing = FileManager.default.temporaryDirectory
      .appendingPathComponent("missing-\(UUID().uuidString)")
    let asset = Asset(checksum: "", size: 0, location: missing.absoluteString)
    let save = RecordSave(
      id: RecordID(name: "p", zone: .default), type: "Photo",
      changes: [RecordSave.Change(key: "image", field: Field(.asset(asset)))])
    for deletes in [[], [RecordID(name: "x", zone: .default)]] as [[RecordID]] {
      let call = CloudCall(
        container: "iCloud.files", database: .private, requestID: "save",
        request: .modifyRecords(ModifyRecords(save: [save], delete: deletes, isAtomic: false)))
      guard case .recordsModified(let saved, let deleted) = try await assets.send(call) else {
        Issue.record("a save was not answered")
        return
      }
      #expect(saved.map(\.error?.code) == [.assetFileNotFound])
      #expect(deleted.map(\.id) == deletes && deleted.allSatisfy { $0.error == nil })
      #expect(transport.calls.count == deletes.count)
    }
  }

  @Test(
    "A refused save keeps the other changes of its zone back in an atomic request only",
    arguments: [true, false])
  func refusedSaveKeepsItsZoneBack(isAtomic: Bool) {
    func id(_ name: String, _ zone: String) -> RecordID {
      RecordID(name: name, zone: ZoneID(name: zone))
    }
    let saves = [id("a", "A"), id("bad", "A"), id("b", "B")]
    let deletes = [id("x", "A"), id("y", "B")]
    let request = ModifyRecords(
      save: saves.map { RecordSave(id: $0, type: "T", changes: []) }, delete: deletes,
      isAtomic: isAtomic)
    let refused = RefusedChanges(request, [1: CloudError(.assetFileNotFound, "none")])
    let rest = refused.rest(of: request)
    #expect(rest.save.map(\.id.name) == (isAtomic ? ["b"] : ["a", "b"]))
    #expect(rest.delete.map(\.name) == (isAtomic ? ["y"] : ["x", "y"]))
    let saved = refused.completing(
      saved: rest.save.map { ItemResult(id: $0.id, .success(Record(id: $0.id, type: "T"))) })
    let deleted = refused.completing(
      deleted: rest.delete.map { ItemResult(id: $0, .success(Done())) })
    let sibling: CloudError.Code? = isAtomic ? .batchRequestFailed : nil
    let codes: [CloudError.Code?] = [sibling, .assetFileNotFound, nil]
    #expect(saved.map(\.id) == saves && saved.map { $0.error?.code } == codes)
    #expect(deleted.map(\.id) == deletes && deleted.map { $0.error?.code } == [sibling, nil])
  }
}
