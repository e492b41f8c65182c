import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Foundation
import Records
import SQLite
import Testing

@testable import LoopbackServer

/// The space of a server's file, and files that may not be written.
@Suite("Space of a server's file")
struct ServerFileSpaceTests {
  private static let megabyte = 1 << 20
  private static let content = (0..<megabyte).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

  private func upload(_ name: String, _ storage: SQLiteStorage) throws {
    let row = UploadRow(
      receipt: name, user: UserID("u"),
      recordType: RecordTypeID(container: "c", environment: .development, name: "T"), key: "f",
      checksum: name, size: Self.content.count, time: Timestamp(secondsSinceReferenceDate: 0))
    try storage.transaction {
      try storage.commit([.putUpload(row, content: AssetContent(Self.content))])
    }
  }

  /// The size of the file with its log.
  private func size(_ file: TemporaryFile) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: file.folder.path).reduce(0) { sum, name in
      guard !name.hasSuffix("-shm") else { return sum }
      let path = file.folder.appendingPathComponent(name).path
      return sum + (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
    }
  }

  @Test("Removed files give their space back, and those that stay are whole")
  func removedFilesGiveSpaceBack() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    for number in 0..<48 { try upload("\(number)", storage) }
    try storage.connection.foldLog()
    let full = try size(file)
    #expect(full > 48 * Self.megabyte)
    for number in 0..<48 where number % 8 != 7 {
      try storage.transaction { try storage.commit([.removeUpload("\(number)")]) }
    }
    let expected = try #require(try storage.assetContent("47"))
    #expect(expected.count == Self.megabyte)
    for number in 0..<48 {
      #expect(try storage.assetContent("\(number)") == (number % 8 == 7 ? expected : nil))
    }
    try storage.close()
    let left = try size(file)
    #expect(left < 12 * Self.megabyte, "\(left) of \(full)")
    let again = try SQLiteStorage(path: file.path, identity: 1)
    #expect(try again.assetContent("7") == expected)
    try again.close()
  }

  @Test("A file of an older version, which can't give space back, is vacuumed once only")
  func olderFileIsTidiedOnce() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    try SQLiteStorage(path: file.path, identity: 1).close()
    let connection = try Connection(path: file.path)
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM")
    try connection.close()
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    for number in 0..<8 { try upload("\(number)", storage) }
    for number in 0..<7 {
      try storage.transaction { try storage.commit([.removeUpload("\(number)")]) }
    }
    #expect(!storage.mayHaveFreedSpace)
    #expect(try storage.assetContent("7")?.count == Self.megabyte)
    try storage.close()
  }

  @Test(
    "Records that are removed give the space of their values, and of their files, back",
    arguments: [false, true])
  func removedRecordsGiveSpaceBack(haveFiles: Bool) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    let text = String(repeating: "x", count: Self.megabyte)
    for number in 0..<12 {
      let (name, sequence) = ("r\(number)", UInt64(number + 1))
      guard haveFiles else {
        try storage.commit([.putRecord(row(name, sequence, text: text), in: alice)])
        continue
      }
      try upload(name, storage)
      let holder = StorageSample.holder(name, sequence, [name])
      try storage.commit([.putRecord(holder, in: alice), .removeUpload(name)])
    }
    try storage.connection.foldLog()
    let full = try size(file)
    #expect(full > 12 * Self.megabyte)
    try storage.commit(
      haveFiles
        ? (0..<12).map { .putRecord(tombstone("r\($0)", 100 + UInt64($0)), in: alice) }
        : [.removeRecords(of: zoneA, in: alice)])
    try storage.close()
    let left = try size(file)
    #expect(left < 4 * Self.megabyte, "\(left) of \(full)")
  }

  @Test("After a failed reset, the next change does not vacuum a file of an older version")
  func failedResetRewritesNoFile() throws {
    struct Stop: Error {}
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    try storage.connection.execute("PRAGMA auto_vacuum = NONE; VACUUM")
    #expect(throws: Stop.self) {
      try storage.transaction {
        try storage.commit([.removeEverything(identity: 2, secret: .random())])
        throw Stop()
      }
    }
    try upload("a", storage)
    #expect(try storage.first("PRAGMA auto_vacuum") { try $0.integer(0) } == 0)
    #expect(try storage.identity() == 1)
    try storage.close()
  }

  @Test("The log grows to 64 MiB before it is written again, and is cut to that after a larger one")
  func logKeepsToItsLimit() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    func logSize() throws -> Int {
      let log = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")
      return log[.size] as? Int ?? 0
    }
    for number in 0..<8 { try upload("\(number)", storage) }
    #expect(try logSize() > 8 * Self.megabyte, "nothing was written into the file yet")
    try storage.transaction {
      try storage.connection.run(
        "INSERT INTO file_chunks (checksum, number, body) VALUES ('large', 0, zeroblob(?))",
        [.integer(Int64(72 * Self.megabyte))])
    }
    #expect(try logSize() > 72 * Self.megabyte)
    try upload("next", storage)
    #expect(try logSize() <= 64 * Self.megabyte)
    try storage.close()
  }

  @Test(
    "A reset gives all space back, also in a file that an older version made",
    arguments: [false, true])
  func resetGivesSpaceBack(isOlder: Bool) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    if isOlder { try storage.connection.execute("PRAGMA auto_vacuum = NONE; VACUUM") }
    for number in 0..<16 { try upload("\(number)", storage) }
    #expect(try size(file) > 16 * Self.megabyte)
    try storage.transaction {
      try storage.commit([.removeEverything(identity: 2, secret: .random())])
    }
    let left = try size(file)
    #expect(left < Self.megabyte, "\(left)")
    try upload("new", storage)
    #expect(try storage.assetContent("new")?.count == Self.megabyte)
    try storage.close()
  }

  @Test("A file that may not be written is read, and nothing is created beside it")
  func unwritableFileIsRead() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    var storage = try SQLiteStorage(path: file.path, identity: 1)
    try upload("a", storage)
    try storage.close()
    let before = file.contents
    // The system administrator may write every file, so the mode is chosen here.
    storage = try SQLiteStorage(path: file.path, identity: 9, mode: .immutable)
    #expect(try storage.identity() == 1)
    #expect(try storage.transaction { try storage.upload("a") }?.size == Self.megabyte)
    #expect(try storage.assetContent("a")?.count == Self.megabyte)
    let error = #expect(throws: ServerFileError.self) {
      try storage.transaction { try storage.commit([.removeUpload("a")]) }
    }
    #expect(error?.code == .readOnly)
    #expect(try storage.assetContent("a")?.count == Self.megabyte)
    #expect(file.contents == before)
    try storage.close()
    #expect(file.contents == before)
  }
}
