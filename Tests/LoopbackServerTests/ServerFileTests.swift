import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Foundation
import Records
import SQLite
import Testing

@testable import LoopbackServer

@Suite("A server's file that is moved while it is open")
struct MovedFileTests {
  @Test("Requests are refused until the file is back, and what they had stored before is kept")
  func movedFileIsRefused() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let server = try LoopbackServer(path: file.path)
    let user = try server.user(of: "alice")
    let elsewhere = file.path + ".old"
    for hasOther in [false, true] {
      try FileManager.default.moveItem(atPath: file.path, toPath: elsewhere)
      if hasOther { try Data().write(to: file.url) }
      let error = #expect(throws: CloudError.self) { try server.user(of: "bob") }
      #expect(error?.code == .serviceUnavailable)
      #expect(error?.message.contains("was moved, replaced or deleted") == true)
      if hasOther { try FileManager.default.removeItem(atPath: file.path) }
      try FileManager.default.moveItem(atPath: elsewhere, toPath: file.path)
      #expect(try server.accounts().map(\.name) == ["alice"])
      #expect(try server.user(of: "alice") == user)
    }
    server.close()
  }

  @Test("A closed file refuses transactions, moved or not")
  func closedFileRefusesTransactions() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    try storage.close()
    #expect(throws: (any Error).self) { try storage.transaction { try storage.identity() } }
  }
}

@Suite("A server's file that is opened again")
struct ReopenedFileTests {
  @Test("Uploads that no record has used for too long are removed when the file is opened")
  func oldUploadsAreRemovedAtOpening() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    func uploads() throws -> [String] {
      let storage = try SQLiteStorage(path: file.path, identity: 1)
      let found = try storage.transaction {
        try storage.uploads(through: Timestamp(secondsSinceReferenceDate: 1e12), limit: .max)
      }
      try storage.close()
      return found
    }
    let start = 1_000.0
    let first = try LoopbackServer(
      path: file.path, clock: { Timestamp(secondsSinceReferenceDate: start) })
    let upload = UploadAsset(recordType: "T", key: "file", content: [1, 2, 3])
    _ = try await first.device("phone", signedInAs: "alice").send(
      call("upload", .uploadAsset(upload)))
    first.close()
    #expect(try uploads().count == 1)
    let lifetime = CloudLimits().uploadSeconds
    for (age, count) in [(lifetime - 1, 1), (lifetime + 1, 0)] {
      let again = try LoopbackServer(
        path: file.path, clock: { Timestamp(secondsSinceReferenceDate: start + age) })
      again.close()
      #expect(try uploads().count == count, "after \(age) s")
    }
  }
}

@Suite("The log of a server's file")
struct ServerFileLogTests {
  @Test("A log that an earlier process left is in the file, and gone, when the next one has ended")
  func leftLogIsWrittenIntoTheFile() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    for name in ["alice", "bob"] {
      let storage = try SQLiteStorage(path: file.path, identity: 1)
      try storage.commit([.putAccount(AccountRow(name: name, user: UserID(name)))])
      // The first process ends without closing the file.
      if name == "alice" { try storage.connection.setCheckpointsOnClose(false) }
      try storage.close()
      #expect((file.contents["cloud.db-wal"]?.isEmpty == false) == (name == "alice"))
    }
    #expect(Array(file.contents.keys) == ["cloud.db"])
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    #expect(try storage.accounts().map(\.name) == ["alice", "bob"])
    try storage.close()
  }
}

/// A file that no server can be opened on.
struct BadFile: CustomTestStringConvertible, Sendable {
  let code: ServerFileError.Code
  let testDescription: String
  let make: @Sendable (TemporaryFile) throws -> Void

  init(
    _ code: ServerFileError.Code, _ description: String,
    _ make: @escaping @Sendable (TemporaryFile) throws -> Void
  ) {
    self.code = code
    testDescription = description
    self.make = make
  }

  /// Makes a good file and then does `body` to its bytes.
  static func damaging(
    _ code: ServerFileError.Code, _ description: String,
    _ body: @escaping @Sendable (inout Data) -> Void
  ) -> BadFile {
    BadFile(code, description) { file in
      try makeGoodFile(file)
      var data = try Data(contentsOf: file.url)
      body(&data)
      try data.write(to: file.url)
    }
  }

  static let all: [BadFile] = [
    BadFile(.notADatabase, "some text") { file in
      try Data(String(repeating: "no database ", count: 1_000).utf8).write(to: file.url)
    },
    BadFile(.notADatabase, "one byte") { try Data([83]).write(to: $0.url) },
    BadFile(.cannotOpen, "a folder") { file in
      try FileManager.default.createDirectory(at: file.url, withIntermediateDirectories: false)
    },
    BadFile(.foreign, "another program's database") { file in
      let connection = try Connection(path: file.path)
      try connection.execute("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
      try connection.close()
    },
    BadFile(.foreign, "another program's database in use") { file in
      let connection = try Connection(path: file.path)
      try connection.useWriteAheadLog()
      try connection.setCheckpointsOnClose(false)
      try connection.execute("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
      try connection.close()
    },
    BadFile(.damaged, "a damaged file with a log that was not folded in yet") { file in
      try makeGoodFile(file)
      let connection = try Connection(path: file.path)
      try connection.setCheckpointsOnClose(false)
      try connection.execute("DELETE FROM accounts")
      try connection.close()
      var data = try Data(contentsOf: file.url)
      data.replaceSubrange((data.count - 8192)..., with: Data(count: 8192))
      try data.write(to: file.url)
    },
    damaging(.newer, "a newer layout") { $0[63] = UInt8(ServerFile.version + 1) },
    BadFile(.damaged, "two rows that hold one record") { file in
      try makeGoodFile(file)
      let connection = try Connection(path: file.path)
      try connection.execute(
        """
        INSERT INTO records (zone, name, changed_at, is_live, type, body)
          SELECT zone, name, changed_at, is_live, type, body FROM records WHERE name = 'n2'
        """)
      try connection.close()
    },
    damaging(.notADatabase, "a header cut off") { $0 = $0.prefix(50) },
    damaging(.damaged, "half a file") { $0 = $0.prefix($0.count / 2) },
    damaging(.damaged, "a page of zeros") { data in
      data.replaceSubrange(4096..<8192, with: Data(count: 4096))
    },
    damaging(.damaged, "zeros behind the header") { data in
      data.replaceSubrange(100..<4096, with: Data(count: 3996))
    },
  ]
}

/// A closed server's file with a little of everything in it.
func makeGoodFile(_ file: TemporaryFile) throws {
  let storage = try SQLiteStorage(path: file.path, identity: 5)
  try storage.commit([
    .putAccount(.init(name: "alice", user: UserID("_alice"), quota: 1_000)),
    .putDatabase(.init(id: alice, incarnation: 1, sequence: 9)),
    .putZone(.init(id: zoneA, incarnation: 1, changedAt: 8), in: alice),
    .putZone(.init(id: zoneB, deletion: .purged, incarnation: 1, changedAt: 9), in: alice),
    .putSubscription(.init(id: .init("n1"), kind: .zone(zoneA, recordType: "T")), in: alice),
    .putReceipt(
      .init(
        key: .init(user: UserID("_alice"), device: "phone", requestID: "n1"),
        reply: .currentUser(UserID("_alice"))), keeping: 3),
    .putUpload(StorageSample.upload("n1", "n2", at: 5), content: [1, 2, 3]),
    .putRecord(StorageSample.holder("n8", 10, ["n3"]), in: alice),
    .putSchema(SchemaRow(container: "c", environment: .production, isClosed: true)),
    .putRecordType(
      RecordTypeRow(
        id: RecordTypeID(container: "c", environment: .production, name: "T"),
        fields: [FieldRow(key: "text", shape: FieldShape(kind: .string))])),
  ])
  for number in 1...6 {
    let text = String(repeating: "text \(number) ", count: 20)
    try storage.commit([
      .putRecord(row("n\(number)", UInt64(number), parent: "n1", text: text), in: alice)
    ])
  }
  try storage.commit([.putRecord(tombstone("n7", 7), in: alice)])
  try storage.close()
}

@Suite("The server's file")
struct ServerFileTests {
  /// Proves I19.
  @Test(
    "A file that cannot be used is refused with a clear error and left as it is",
    arguments: BadFile.all)
  func unusableServerFileIsRefusedUnchanged(_ bad: BadFile) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    try bad.make(file)
    // The index of a log is made anew by whoever opens the file; it holds nothing of its own.
    let before = file.contents.filter { !$0.key.hasSuffix("-shm") }
    do {
      let server = try LoopbackServer(path: file.path)
      server.close()
      Issue.record("it was opened")
    } catch {
      #expect(error.code == bad.code, "\(error)")
      #expect(error.path == file.path)
      #expect(error.message.contains(file.path))
    }
    #expect(
      file.contents.filter { !$0.key.hasSuffix("-shm") } == before, "the folder is as it was")
  }

  @Test("A file is opened by the name of a link to it, and an empty one is filled")
  func linkedFileIsOpened() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    try Data().write(to: file.url)
    let link = file.path + ".link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
    for path in [link, file.path, link] {
      let server = try LoopbackServer(path: path)
      #expect(try server.accounts().isEmpty)
      server.close()
    }
    #expect(try Data(contentsOf: file.url).starts(with: Data("SQLite format 3".utf8)))
  }

  @Test(
    "An older file is opened and migrated to the newest layout, and records are found by type",
    arguments: [1, 2, 3, 4, 5])
  func olderFileIsMigrated(from layout: Int) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let connection = try Connection(path: file.path)
    try connection.execute(ServerFile.layout)
    if layout >= 2 { try connection.execute(ServerFile.layoutOfQueriesAndFiles) }
    if layout >= 3 { try connection.execute(ServerFile.layoutInOrderOfChange) }
    if layout >= 4 { try connection.execute(ServerFile.layoutWithoutNames) }
    // Before layout 5 a receipt ends with the answer.
    let reply = CloudReply.currentUser(UserID("_alice"))
    try connection.run(
      "INSERT INTO receipts (user, device, request, body) VALUES ('_alice', 'phone', 'r', ?)",
      [.blob(ChecksummedBytes.encode { $0.write(reply) })])
    try connection.run(
      "INSERT INTO settings (name, body) VALUES ('identity', ?)",
      [.blob(ChecksummedBytes.encode { $0.write(fixed: UInt64(42)) })])
    try connection.execute(
      """
      PRAGMA application_id = \(ServerFile.applicationID); PRAGMA user_version = \(layout);
      INSERT INTO databases (id, container, environment, scope, owner)
        VALUES (1, 'c', 'development', 2, '_alice');
      INSERT INTO zones (id, database, owner, name) VALUES (1, 1, '__defaultOwner__', 'A');
      """)
    for old in [row("b", 1), row("a", 2), tombstone("c", 3)] {
      try connection.run(
        """
        INSERT INTO records (zone, name, changed_at, is_live, body\(layout > 1 ? ", type" : ""))
          VALUES (1, ?, ?, ?, ?\(layout > 1 ? ", 'T'" : ""))
        """,
        [
          .text(old.id.name), .integer(Int64(old.changedAt)),
          .integer(old.record == nil ? 0 : 1), .blob(RecordBody.close(old)),
        ])
    }
    try connection.close()
    for _ in 1...2 {
      let storage = try SQLiteStorage(path: file.path, identity: 1)
      #expect(try storage.identity() == 42)
      let found = try storage.records(ofType: "T", in: zoneA, of: alice, after: nil, limit: 9)
      #expect(found == [row("a", 2), row("b", 1)])
      #expect(try storage.recordChanges(of: zoneA, in: alice, after: 0, limit: 9).count == 3)
      #expect(try storage.record(RecordID(name: "a", zone: zoneA), in: alice) == row("a", 2))
      let key = ReceiptKey(user: UserID("_alice"), device: "phone", requestID: "r")
      #expect(try storage.receipt(key) == Receipt(key: key, reply: reply))
      let version = try storage.connection.first("PRAGMA user_version") { try $0.integer(0) }
      #expect(version == ServerFile.version)
      try storage.close()
    }
    // A file that says it is of layout 1 and isn't.
    let liar = try Connection(path: file.path)
    try liar.execute("PRAGMA user_version = 1")
    try liar.close()
    #expect(throws: ServerFileError.self) { try SQLiteStorage(path: file.path, identity: 1) }
  }

  @Test("A missing folder and a busy file are refused")
  func missingFolderAndBusyFileAreRefused() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    do {
      _ = try LoopbackServer(path: file.path + "/no/cloud.db")
      Issue.record("it was opened")
    } catch { #expect(error.code == .cannotOpen) }
    try makeGoodFile(file)
    let holder = try Connection(path: file.path)
    try holder.transaction {
      let storage = try SQLiteStorage(path: file.path, identity: 1, busyMilliseconds: 0)
      do {
        try storage.commit([.putDatabase(.init(id: bob, incarnation: 1))])
        Issue.record("it was written")
      } catch { #expect((error as? ServerFileError)?.code == .busy) }
      #expect(storage.connection.busyStatementCount == 0)
      try storage.close()
    }
    try holder.close()
  }

  /// Proves I20.
  @Test("No changed byte in a file is ever read as different contents", arguments: 0..<8)
  func changedByteIsNeverMisread(_ part: Int) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    try makeGoodFile(file)
    let names = (1...7).map { "n\($0)" }
    let good = try Data(contentsOf: file.url)
    let whole = try SQLiteStorage(path: file.path, identity: 1)
    let expected = try StorageSample.rows(of: whole, names: names)
    try whole.close()
    var opened = 0
    var refused = 0
    // Most of the file is empty space; walk over every byte that is not, in eight shares.
    let places = good.indices.filter { good[$0] != 0 }
    for index in places where index % 8 == part && (index < 200 || index % 3 == 0) {
      var damaged = good
      damaged[index] ^= 0x11
      try damaged.write(to: file.url)
      do {
        let storage = try SQLiteStorage(path: file.path, identity: 1)
        defer { try? storage.close() }
        if try StorageSample.rows(of: storage, names: names) != expected {
          Issue.record("byte \(index) was changed and nobody saw it")
        }
        opened += 1
      } catch let error as ServerFileError {
        #expect(error.code != .failed, "\(index): \(error)")
        refused += 1
      }
    }
    #expect(refused > 0, "\(opened) opened, \(refused) refused")
  }

  @Test("Damage found while the server runs ends the request, not the process")
  func damageWhileRunning() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    try makeGoodFile(file)
    // A row whose seal is broken, in a file that SQLite itself finds whole.
    let connection = try Connection(path: file.path)
    try connection.execute("UPDATE records SET body = x'00112233445566'")
    try connection.close()
    let server = try LoopbackServer(path: file.path)
    let phone = server.device("phone", signedInAs: "alice")
    for request in [
      CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: zoneA, since: nil)),
      .fetchRecords(FetchRecords(ids: [RecordID(name: "n1", zone: zoneA)])),
    ] {
      do {
        _ = try await phone.send(
          CloudCall(container: "c", database: .private, requestID: "1", request: request))
        Issue.record("it was answered")
      } catch {
        #expect(error.code == .internalError)
        #expect(error.message.contains("damaged"))
      }
    }
    #expect(server.controls.openRequestCount == 0)
    server.close()
  }
}
