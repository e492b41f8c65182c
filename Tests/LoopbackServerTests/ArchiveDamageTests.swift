import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Foundation
import Records
import Testing

@testable import LoopbackServer

@Suite("Archives that are not to be trusted")
struct ArchiveDamageTests {
  private struct Stop: Error {}

  /// The outcome of an import; a failure must leave the server as it was.
  private func ending(_ archive: some Sequence<UInt8>, _ server: LoopbackServer) -> String {
    do {
      let before = try server.exportArchive()
      do {
        try server.importArchive(Data(archive))
        return "ok"
      } catch {
        guard try server.exportArchive() == before else { return "something stayed" }
        return "\(error.code): \(error.message)"
      }
    } catch { return "no export: \(error)" }
  }

  @Test("No truncated archive is imported, wherever it was cut")
  func truncatedArchiveIsNotImported() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(identity: 1))
    let archive = Array(try world.server.exportArchive())
    let server = LoopbackServer(identity: 2)
    var cuts: [Int] = []
    for index in archive.indices where archive[index] == UInt8(ascii: "\n") {
      cuts += [index - 20, index, index + 1]
    }
    cuts.removeLast()
    for cut in [0, 1] + cuts {
      let end = ending(archive[..<cut], server)
      let isAtLineEnd = cut == 0 || archive[cut - 1] == UInt8(ascii: "\n")
      if end.hasPrefix("invalidArguments: "), !isAtLineEnd || end.contains("cut short") { continue }
      Issue.record("cut after \(cut) of \(archive.count) bytes: \(end)")
    }
    #expect(ending(archive, server) == "ok")
  }

  /// Proves I20.
  @Test("No archive with a changed character, or a lost, repeated or moved line, is imported")
  func damagedArchiveIsNotImported() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(identity: 1))
    let archive = Array(try world.server.exportArchive())
    let server = LoopbackServer(identity: 2)
    var random = StorageRandom(seed: 5)
    let end = archive.count - 150
    let places = (0..<150).map { _ in Int(random.below(UInt64(archive.count))) }
    for place in places + Array(0..<130) + Array(end..<archive.count) {
      var damaged = archive
      damaged[place] ^= UInt8(1 << random.below(8))
      let end = ending(damaged, server)
      // A newer version's archive is told apart from a damaged one by its number only.
      if end.hasPrefix("invalidArguments: ") || end.hasPrefix("incompatibleVersion: ") { continue }
      Issue.record("changed at \(place): \(end)")
    }
    let lines = archive.split(separator: UInt8(ascii: "\n"))
    for index in lines.indices {
      var lost = lines
      lost.remove(at: index)
      var doubled = lines
      doubled.insert(lines[index], at: index)
      var moved = lines
      moved.swapAt(index, index == 0 ? 1 : index - 1)
      for damaged in [lost, doubled, moved] {
        let end = ending(damaged.joined(separator: [10]) + [10], server)
        if end.hasPrefix("invalidArguments: ") { continue }
        Issue.record("line \(index): \(end)")
      }
    }
    #expect(ending(archive + [10], server).contains("line \(lines.count + 1) of"))
    #expect(ending(archive, server) == "ok")
  }

  @Test("An invalid archive with a valid checksum is refused with the number of the wrong line")
  func forgedArchiveIsRefusedByLine() throws {
    let server = LoopbackServer(identity: 2)
    let header = try header
    for (lines, reason) in forgeries {
      let end = ending(sealed(header + "\n" + lines + "\n"), server)
      let number = 2 + lines.count { $0 == "\n" }
      if end.hasPrefix("invalidArguments: line \(number) of"), end.contains(reason) { continue }
      Issue.record("\(lines.prefix(300)): \(end), not for \(reason)")
    }
    #expect(
      ending(sealed(header + "\n" + Self.account + "\n" + Self.database + "\n"), server) == "ok")
    #expect(try server.accounts().map(\.name) == ["a"])
    server.close()
  }

  @Test("An archive in which a record has no number of its own is refused")
  func recordsNeedNumbers() throws {
    let server = LoopbackServer(identity: 2)
    let record =
      #"{"kind":"record",\#(Self.home),"zone":"A","name":"a","type":"T","changedAt":2,"#
      + #""record":{"fields":{"f":{"int64":1}}}}"#
    let other = record.replacing(#":"a","t"#, with: #":"b","t"#)
    let lines = try header + "\n" + Self.database + "\n"
    for records in [
      record.replacing(":2,", with: ":0,"), record.replacing(":2,", with: ":3,"),
      record + "\n" + other,
    ] {
      let end = ending(sealed(lines + records + "\n"), server)
      #expect(end.contains("'changedAt' is not a number of the database"), "\(end)")
    }
    let unchanged = try header + "\n" + Self.database.replacing(":2,", with: ":0,") + "\n" + record
    #expect(ending(sealed(unchanged + "\n"), server).contains("'changedAt' is not a number"))
    let numbered = record.replacing(":2,", with: ":1,") + "\n" + other + "\n"
    #expect(ending(sealed(lines + numbered), server) == "ok")
    server.close()
  }

  @Test("The largest numbers and the deepest lists that an archive may have are imported")
  func extremeArchiveIsImported() throws {
    let server = LoopbackServer(identity: 2)
    let largest = "\(1 << 62 as UInt64)"
    let database = Self.database.replacing(":2,", with: ":\(largest),")
      .replacing(#""byteCount":2"#, with: #""byteCount":\#(largest)"#)
    let record =
      #"{"kind":"record",\#(Self.home),"zone":"A","name":"a","type":"T","changedAt":\#(largest),"#
      + #""record":{"fields":{"f":{"list":[{"list":[{"list":[{"list":[]}]}]}]}}}}"#
    let lines = try [header, Self.account, database, record].map { $0 + "\n" }
    let archive = sealed(lines.joined())
    #expect(ending(archive, server) == "ok")
    #expect(try server.databases().map(\.byteCount) == [1 << 62])
    let exported = String(decoding: try server.exportArchive(), as: UTF8.self)
    #expect(exported.contains(record) && exported.contains("\"sequence\":\(largest),"))
    server.close()
  }

  @Test("An archive with another number of lines than its last line says is refused")
  func wrongNumberOfLinesIsRefused() throws {
    let server = LoopbackServer(identity: 2)
    let lines = try header + "\n" + Self.account + "\n"
    for miscount in [-1, 1] {
      let end = ending(sealed(lines, miscount: miscount), server)
      #expect(end.contains("it counts \(2 + miscount) lines, but there are 2"), "\(end)")
    }
    #expect(ending(sealed(lines), server) == "ok")
    server.close()
  }

  @Test("An archive header of another program or a newer version is refused with that reason")
  func foreignArchiveHeaderIsRefused() throws {
    let header = try header
    let server = LoopbackServer(identity: 2)
    for (line, code) in [
      (header.replacing(":2,", with: ":3,"), "incompatibleVersion: line 1 of"),
      (header.replacing(":2,", with: ":3,\"more\":[],"), "incompatibleVersion: line 1 of"),
      (header.replacing(":2,", with: ":0,"), "invalidArguments: line 1 of"),
      (header.replacing("server", with: "diary"), "invalidArguments: line 1 of"),
      (header.replacing("0001\"", with: "000\""), "invalidArguments: line 1 of"),
      (header.replacing("0001\"", with: "000X\""), "invalidArguments: line 1 of"),
      ("SQLite format 3\0", "invalidArguments: line 1 of"),
    ] {
      let end = ending(sealed(line + "\n"), server)
      #expect(end.hasPrefix(code), "\(line): \(end)")
    }
    server.close()
  }

  private var header: String {
    get throws {
      String(
        decoding: try LoopbackServer(identity: 1).exportArchive().prefix { $0 != 10 },
        as: UTF8.self)
    }
  }

  private static let home =
    #""container":"c","environment":"development","scope":"private","owner":"_a""#
  private static let database =
    #"{"kind":"database",\#(home),"incarnation":1,"sequence":2,"latest":{"seconds":1.0},"#
    + #""trimmedThrough":0,"byteCount":2}"#
  private static let account = #"{"kind":"account","name":"a","user":"_a"}"#

  /// The SHA-256 of the file "A".
  private static let checksum =
    "559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"

  /// Lines that nothing may follow from, and a word of the reason.
  private var forgeries: [(line: String, reason: String)] {
    let (home, database, account) = (Self.home, Self.database, Self.account)
    func record(_ content: String) -> String {
      #"{"kind":"record",\#(home),"zone":"A","name":"a","type":"T","changedAt":2,\#(content)}"#
    }
    func field(_ value: String) -> String { record(#""record":{"fields":{"f":\#(value)}}"#) }
    let upload =
      #"{"kind":"upload","receipt":"r","user":"_a","container":"c","environment":"production","#
      + #""recordType":"T","key":"k","sha256":"0","size":1,"time":{"seconds":1.0}}"#
    let nested = String(repeating: "[", count: 100_000)
    return [
      ("", "JSON"), ("null", "not an object"), ("[]", "not an object"), ("{}", "'kind' is missing"),
      (#"{"kind":"end"}"#, "'lines' is missing"), (#"{"kind":"what"}"#, "unknown"),
      (nested, "too deep"), (account + " ", "does not have the archive's format"),
      (account + " {}", "follows"),
      (account.dropLast() + "", "JSON"),
      (#"{"kind":"account","name":"a"}"#, "'user' is missing"),
      (#"{"kind":"account","name":"a","user":7}"#, "'user' is not a string"),
      (#"{"kind":"account","name":"a","user":"_a","quota":9223372036854775808}"#, "'quota'"),
      (#"{"kind":"account","name":"a","user":"_a","quota":1.5}"#, "'quota'"),
      (#"{"kind":"account","name":"a","user":"_a","age":1}"#, "unknown or occurs twice"),
      (#"{"kind":"account","name":"a","user":"_a","user":"_a"}"#, "with one name"),
      (#"{"kind":"account","name":"\ud800","user":"_a"}"#, "half of a surrogate"),
      (#"{"kind":"account","name":"\x","user":"_a"}"#, "JSON"),
      (account + "\n" + account, "duplicated"),
      (account + "\n" + #"{"kind":"account","name":"b","user":"_a"}"#, "the same user"),
      (database + "\n" + account, "out of order"),
      (database.replacing(":2,", with: ":4611686018427387905,"), "'sequence' is too large"),
      (database.replacing(":2,", with: ":18446744073709551616,"), "'sequence'"),
      (database.replacing(":2,", with: ":-1,"), "'sequence'"),
      (database.replacing(":2,", with: ":02,"), "a zero in front"),
      (database.replacing("1.0", with: "1.00"), "does not have the archive's format"),
      (account.replacing("kind", with: "\\u006bind"), "does not have the archive's format"),
      (database.replacing(":2}", with: ":4611686018427387905}"), "'byteCount' is too large"),
      (database.replacing(#","byteCount":2"#, with: ""), "'byteCount' is missing"),
      (database.replacing("1.0", with: "1e999"), "too large"),
      (database.replacing("1.0", with: "\"bits:g\""), "'seconds' is not a number"),
      (
        database.replacing(#"{"se"#, with: #"{"utc":"2001-01-01T00:00:02.000Z","se"#),
        "are not the same time"
      ),
      (database.replacing("private", with: "secret"), "'scope'"),
      (database.replacing("development", with: "moon"), "'environment'"),
      (record(#""deleted":false"#), "neither"), (record(#""deleted":true,"record":{}"#), "both"),
      (field("{}"), "kind of a value is unknown"), (field(#"{"int64":1,"double":2}"#), "twice"),
      (field(#"{"int64":9223372036854775808}"#), "'int64'"),
      (field(#"{"bytes":"*"}"#), "base64"), (field(#"{"bytes":"QQ"}"#), "base64"),
      (field(#"{"asset":{"sha256":"x","size":-1}}"#), "'size' is negative"),
      (field(#"{"reference":{"zone":"A","name":"a"},"action":"explode"}"#), "'action'"),
      (
        field(#"{"list":[{"list":[{"list":[{"list":[{"list":[]}]}]}]}]}"#), "lists nest too deep"
      ),
      (#"{"kind":"file","sha256":"0","size":2,"content":"QQ=="}"#, "'size'"),
      (upload, "not in the archive"),
      (
        #"{"kind":"file","sha256":"\#(Self.checksum)","size":1,"content":"Qg=="}"#,
        "the checksum 'sha256'"
      ),
      (
        #"{"kind":"file","sha256":"\#(Self.checksum)","size":1,"content":"QQ=="}"# + "\n"
          + upload.replacing(#":"r","#, with: #":"archive 0","#)
          .replacing(#":"0""#, with: #":"\#(Self.checksum)""#), "not a valid receipt"
      ),
      (
        #"{"kind":"receipt","user":"_a","device":"d","place":1,"request":"r","answer":"/w=="}"#,
        "'answer'"
      ),
    ]
  }

  /// An archive of `lines` with the last line that belongs to them.
  ///
  /// - Parameter miscount: The number that is added to the number of lines.
  private func sealed(_ lines: String, miscount: Int = 0) -> [UInt8] {
    var hash = SHA256()
    hash.update(lines.utf8)
    let count = lines.utf8.count { $0 == 10 } + miscount
    let end = #"{"kind":"end","lines":\#(count),"sha256":"\#(hash.hexadecimalDigest)"}"#
    return Array((lines + end + "\n").utf8)
  }

  private static let contents: [StorageChange] = [
    .putAccount(AccountRow(name: "alice", user: UserID("_alice"), quota: 1)),
    .putAccount(
      AccountRow(
        name: "alice", user: UserID("_alice"), person: AccountRow.Person(givenName: "Alice"))),
    .putDatabase(DatabaseRow(id: alice, incarnation: 1, sequence: 1)),
    .putRecordType(
      RecordTypeRow(
        id: RecordTypeID(container: "c", environment: .development, name: "T"), fields: [])),
    .putSchema(SchemaRow(container: "c", environment: .production, isClosed: true)),
    .putUpload(StorageSample.upload("r", "checksum", at: 1e12), content: [1]),
    .putReceipt(
      Receipt(
        key: ReceiptKey(user: UserID("_alice"), device: "phone", requestID: "r"),
        reply: .currentUser(UserID("_alice"))), keeping: 3),
  ]

  @Test(
    "A server with a single row of any kind, except an account, accepts no archive",
    arguments: contents.indices)
  func contentOfAnyKindRefusesAnArchive(_ index: Int) throws {
    let archive = try LoopbackServer(identity: 1).exportArchive()
    let storage = MemoryStorage(identity: 2, secret: .random())
    try storage.commit([Self.contents[index]])
    let server = try LoopbackServer(storage: storage)
    #expect(ending(archive, server).hasPrefix("serverRejectedRequest: "))
    server.close()
  }

  @Test("A server with contents accepts no archive, and an error thrown by the caller is rethrown")
  func nonemptyServerRefusesImport() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(identity: 1))
    let archive = try world.server.exportArchive()
    #expect(ending(archive, world.server).hasPrefix("serverRejectedRequest: "))
    let server = LoopbackServer(identity: 2)
    try server.controls.setQuota(1 << 20, of: "carol")
    #expect(ending(archive, server).hasPrefix("serverRejectedRequest: "))
    // An account without data does not count.
    try server.controls.setQuota(nil, of: "carol")
    #expect(ending(archive, server) == "ok")
    #expect(try server.exportArchive() == archive)
    try server.reset()
    let text = String(decoding: archive, as: UTF8.self)
    for stop in [0, 1, 5] {
      var lines = text.split(separator: "\n")[...]
      var given = 0
      #expect(throws: Stop.self) {
        try server.importArchive {
          if given == stop { throw Stop() }
          given += 1
          return lines.popFirst().map(String.init)
        }
      }
      #expect(try server.accounts().isEmpty && server.databases().isEmpty)
      var written = 0
      #expect(throws: Stop.self) {
        try world.server.exportArchive { _ in
          if written == stop { throw Stop() }
          written += 1
        }
      }
    }
    #expect(try world.server.exportArchive() == archive)
    #expect(ending(archive, server) == "ok")
  }
}
