import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@Suite("Files of records, from one device to another")
struct AssetTransferTests {
  private let server = LoopbackServer()
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("assets-\(UUID().uuidString)")

  private func database(_ device: String) -> CKDatabase {
    CKContainer(
      identifier: "iCloud.assets", transport: server.device(device, signedInAs: "alice")
    ).privateCloudDatabase
  }

  private func file(_ name: String, _ content: String) throws -> URL {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent(name)
    try Data(content.utf8).write(to: file)
    return file
  }

  private func text(_ value: Any?) throws -> String? {
    guard let file = (value as? CKAsset)?.fileURL else { return nil }
    return String(data: try Data(contentsOf: file), encoding: .utf8)
  }

  private func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Proves CE-109, CS-38, SC-59, SC-60.
  @Test("Content arrives in new files, and unchanged content is not transferred again")
  func unchangedContentIsNotTransferredAgain() async throws {
    defer { remove() }
    let (phone, desk) = (database("phone"), database("desk"))
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    let original = try file("a", "first")
    record["image"] = CKAsset(fileURL: original)
    record["pages"] = [
      CKAsset(fileURL: try file("b", "one")), CKAsset(fileURL: try file("c", "two")),
    ]
    let saved = try await phone.save(record)
    #expect((saved["image"] as? CKAsset)?.fileURL == original, "the saved record keeps its file")
    let first = try await desk.record(for: record.recordID)
    let second = try await desk.record(for: record.recordID)
    #expect(try text(first["image"]) == "first")
    #expect(try (first["pages"] as? [CKAsset])?.map { try text($0) } == ["one", "two"])
    let places = [first, second].map { ($0["image"] as? CKAsset)?.fileURL }
    #expect(places[0] != places[1] && places[0] != original, "every reading gives a fresh file")
    // Another field changes: no file travels.
    server.controls.forgetRequests()
    saved["title"] = "t"
    try await phone.save(saved)
    #expect(server.controls.requestCount(in: RequestScope(kind: .uploadAsset)) == 0)
    // The content changes: the new one travels, and the old one is gone.
    first["image"] = CKAsset(fileURL: try file("d", "second"))
    first["title"] = "t"
    let merged = try await desk.modifyRecords(
      saving: [first], deleting: [], savePolicy: .changedKeys)
    _ = try merged.saveResults[first.recordID]?.get()
    let third = try await phone.record(for: record.recordID)
    #expect(try text(third["image"]) == "second" && third["title"] as? String == "t")
    let bare = try await phone.records(for: [record.recordID], desiredKeys: ["title"])
    #expect(try bare[record.recordID]?.get().allKeys() == ["title"])
  }

  @Test("A file of several gigabytes fails its record, and is not read")
  func hugeFileFailsItsRecord() async throws {
    defer { remove() }
    let phone = database("phone")
    let huge = try file("huge", "")
    let handle = try FileHandle(forWritingTo: huge)
    try handle.truncate(atOffset: 8 << 30)
    try handle.close()
    let (record, other) = (CKRecord(recordType: "Photo"), CKRecord(recordType: "Photo"))
    record["video"] = CKAsset(fileURL: huge)
    let results = try await phone.modifyRecords(
      saving: [record, other], deleting: [], atomically: false
    ).saveResults
    let error = #expect(throws: CKError.self) { try results[record.recordID]?.get() }
    #expect(error?.code == .limitExceeded)
    _ = try results[other.recordID]?.get()
    #expect(server.controls.requestCount(in: RequestScope(kind: .uploadAsset)) == 0)
  }

  @Test("Many files of one record arrive, each of them once")
  func manyFilesArriveOnce() async throws {
    defer { remove() }
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    let names = (0..<40).map { "page \($0 % 20)" }
    record["pages"] = try names.map { CKAsset(fileURL: try file($0, $0)) }
    try await database("phone").save(record)
    server.controls.forgetRequests()
    let read = try await database("desk").record(for: record.recordID)
    #expect(try (read["pages"] as? [CKAsset])?.map { try text($0) } == names)
    #expect(server.controls.requestCount(in: RequestScope(kind: .downloadAsset)) == 20)
  }

  /// Proves CS-149, S7.
  @Test("A fetched file can be saved in another record, and queries and feeds deliver files")
  func fetchedFileCanBeSavedInAnotherRecord() async throws {
    defer { remove() }
    let (phone, desk) = (database("phone"), database("desk"))
    let zone = try await phone.save(CKRecordZone(zoneName: "Photos"))
    let source = CKRecord(
      recordType: "Photo", recordID: CKRecord.ID(recordName: "a", zoneID: zone.zoneID))
    source["image"] = CKAsset(fileURL: try file("a", "shared"))
    source["n"] = 1
    try await phone.save(source)
    let read = try await desk.record(for: source.recordID)
    let copy = CKRecord(
      recordType: "Photo", recordID: CKRecord.ID(recordName: "b", zoneID: zone.zoneID))
    copy["image"] = read["image"] as? CKAsset
    try await desk.save(copy)
    let changes = try await phone.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
    let images = try changes.modificationResultsByID.values.map {
      try text(try $0.get().record["image"])
    }
    #expect(images == ["shared", "shared"])
  }

  /// Proves CS-36, CS-42, CS-49.
  @Test("A missing or unreadable file fails its record, and its zone in an atomic request")
  func unreadableFileFailsItsRecord() async throws {
    defer { remove() }
    let phone = database("phone")
    let zone = try await phone.save(CKRecordZone(zoneName: "Photos"))
    func record(_ name: String, _ file: URL?) -> CKRecord {
      let id = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
      let record = CKRecord(recordType: "Photo", recordID: id)
      record["image"] = file.map { CKAsset(fileURL: $0) }
      return record
    }
    let good = try file("good", "x")
    for atomically in [true, false] {
      let suffix = atomically ? "1" : "2"
      let records = [
        record("good\(suffix)", good), record("bad\(suffix)", folder.appendingPathComponent("no")),
        record("plain\(suffix)", nil),
      ]
      let result = try await phone.modifyRecords(
        saving: records, deleting: [], atomically: atomically)
      let codes = records.map { record -> CKError.Code? in
        guard case .failure(let error as CKError)? = result.saveResults[record.recordID] else {
          return nil
        }
        return error.code
      }
      #expect(
        codes
          == (atomically
            ? [.batchRequestFailed, .assetFileNotFound, .batchRequestFailed]
            : [nil, .assetFileNotFound, nil]))
    }
    let stored = try server.records(
      in: ZoneID(name: "Photos"), container: "iCloud.assets", account: "alice")
    #expect(stored.map(\.id.name) == ["good2", "plain2"])
    await #expect(throws: CKError.self) {
      try await phone.save(record("folder", folder))
    }
  }

  @Test("What the server saved is saved, though the file of another record's conflict is lost")
  func failedDownloadFailsNoSave() async throws {
    defer { remove() }
    let (phone, desk) = (database("phone"), database("desk"))
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    record["image"] = CKAsset(fileURL: try file("first", "first"))
    try await phone.save(record)
    let stale = CKRecord(recordType: "Photo", recordID: record.recordID)
    for kind in [CloudError.Code.networkUnavailable, .internalError] {
      server.controls.fail(next: 100, with: kind, in: RequestScope(kind: .downloadAsset))
      let other = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "\(kind)"))
      let result = try await desk.modifyRecords(
        saving: [stale, other], deleting: [], savePolicy: .ifServerRecordUnchanged,
        atomically: false)
      server.controls.clear()
      #expect(try result.saveResults[other.recordID]?.get() != nil)
      guard case .failure(let error as CKError)? = result.saveResults[record.recordID] else {
        Issue.record("the record was saved")
        continue
      }
      #expect(error.code == .serverRecordChanged && error.serverRecord != nil)
      #expect((error.serverRecord?["image"] as? CKAsset)?.fileURL == nil)
    }
  }

  @Test("A fetched file that was moved away is missing for a new record, and not for its own")
  func movedFileIsMissingForNewRecord() async throws {
    defer { remove() }
    let phone = database("phone")
    let source = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "a"))
    source["image"] = CKAsset(fileURL: try file("a", "moved"))
    try await phone.save(source)
    let read = try await database("desk").record(for: source.recordID)
    let asset = try #require(read["image"] as? CKAsset)
    try FileManager.default.removeItem(at: try #require(asset.fileURL))
    let copy = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "b"))
    copy["image"] = asset
    let error = await #expect(throws: CKError.self) { try await phone.save(copy) }
    #expect(error?.code == .assetFileNotFound)
    let result = try await phone.modifyRecords(
      saving: [read], deleting: [], savePolicy: .allKeys)
    _ = try result.saveResults[read.recordID]?.get()
    #expect(try text(try await phone.record(for: read.recordID)["image"]) == "moved")
  }

  @Test("A file that was written anew after its upload is not taken for the record's content")
  func rewrittenFileIsNotTakenForContent() async throws {
    defer { remove() }
    let phone = database("phone")
    func record(_ name: String, _ written: Double) throws -> CKRecord {
      let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: name))
      record["title"] = name
      // No other test has this content, so that no other file is known for it.
      let place = try file("upload", name + UUID().uuidString)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: written)], ofItemAtPath: place.path)
      record["image"] = CKAsset(fileURL: place)
      return record
    }
    let first = try await phone.save(record("one", 1))
    let content = try #require(try text(first["image"]))
    try await phone.save(record("two", 2))
    let bare = try #require(
      try await phone.records(for: [first.recordID], desiredKeys: ["title"])[first.recordID])
    let edited = try bare.get()
    edited["title"] = "edited"
    try await phone.save(edited)
    #expect((edited["image"] as? CKAsset)?.fileURL == nil, "no file has its content any more")
    edited["title"] = "again"
    _ = try await phone.modifyRecords(saving: [edited], deleting: [], savePolicy: .allKeys)
    let stored = try await phone.record(for: first.recordID)
    #expect(try text(stored["image"]) == content && stored["title"] as? String == "again")
  }

  @Test("A file that the server refuses fails its record alone")
  func refusedFileFailsItsRecordAlone() async throws {
    defer { remove() }
    let records = try ["a", "b"].map { name in
      let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: name))
      record["image"] = CKAsset(fileURL: try file(name, name))
      return record
    }
    server.controls.fail(with: .permissionFailure, in: RequestScope(kind: .uploadAsset))
    let (saved, _) = try await database("phone").modifyRecords(
      saving: records, deleting: [], atomically: false)
    let codes = saved.values.map { result -> CKError.Code? in
      do { _ = try result.get() } catch { return (error as? CKError)?.code }
      return nil
    }
    #expect(Set(codes) == [nil, .permissionFailure])
  }

  @Test("Large and empty content is transferred, also after a network failure")
  func assetTransferSurvivesNetworkFailure() async throws {
    defer { remove() }
    let (phone, desk) = (database("phone"), database("desk"))
    let large = String(repeating: "0123456789abcdef", count: 200_000)
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    record["large"] = CKAsset(fileURL: try file("large", large))
    record["empty"] = CKAsset(fileURL: try file("empty", ""))
    server.controls.fail(with: .networkFailure, in: RequestScope(kind: .uploadAsset))
    do {
      try await phone.save(record)
      Issue.record("the upload should have failed")
    } catch { #expect((error as? CKError)?.code == .networkFailure) }
    try await phone.save(record)
    server.controls.fail(with: .networkFailure, in: RequestScope(kind: .downloadAsset))
    do {
      _ = try await desk.record(for: record.recordID)
      Issue.record("the download should have failed")
    } catch { #expect((error as? CKError)?.code == .networkFailure) }
    let read = try await desk.record(for: record.recordID)
    #expect(try text(read["large"]) == large && text(read["empty"]) == "")
    // The answer to the save is lost: the file is there once, and the repetition is a conflict.
    read["empty"] = CKAsset(fileURL: try file("new", "new"))
    server.controls.dropAnswers(in: RequestScope(kind: .modifyRecords))
    do {
      try await desk.save(read)
      Issue.record("the answer should have been lost")
    } catch { #expect((error as? CKError)?.code == .networkFailure) }
    do {
      try await desk.save(read)
      Issue.record("the server has a newer version")
    } catch {
      let server = (error as? CKError)?.serverRecord
      #expect(try text(server?["empty"]) == "new", "the server's version brings its file")
    }
  }
}
