import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Foundation
import Records
import Testing
import WebServices

@testable import LoopbackServer

@Suite("Archives")
struct ArchiveTests {
  @Test("A server survives memory, archive, file, archive and memory, and continues where it was")
  func serverSurvivesArchiveRoundTrip() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(clock: time))
    let archive = try world.server.exportArchive()
    #expect(try world.server.exportArchive() == archive)
    let expected = try await world.continued(on: world.server)
    #expect(expected.allSatisfy { $0.contains("(") } && world.cursor != nil, "\(expected)")
    #expect(try world.server.exportArchive() == archive, "reading and repeating change nothing")

    let file = try TemporaryFile()
    defer { file.remove() }
    let onDisk = try LoopbackServer(path: file.path, clock: time)
    try onDisk.importArchive(archive)
    #expect(try await world.continued(on: onDisk) == expected)
    #expect(try onDisk.exportArchive() == archive)
    onDisk.close()
    let again = try LoopbackServer(path: file.path, clock: time)
    let inMemory = LoopbackServer(clock: time)
    var lines: [String] = []
    try again.exportArchive { lines.append($0) }
    #expect(lines.joined() == String(decoding: archive, as: UTF8.self))
    var rest = lines[...].map { $0.dropLast().description }[...]
    try inMemory.importArchive { rest.popFirst() }
    #expect(try await world.continued(on: inMemory) == expected)
    #expect(try inMemory.exportArchive() == archive)

    let found = try inMemory.records(in: zoneA, container: "c", account: "alice")
    #expect(found.first { $0.id.name == "odd" }?.fields == ArchiveWorld.odd)
    #expect(found == (try world.server.records(in: zoneA, container: "c", account: "alice")))
    #expect(try inMemory.databases() == world.server.databases())

    // All three go the same way from here.
    for server in [world.server, again, inMemory] { try await goOn(world, server) }
    let ends = try [world.server, again, inMemory].map { try $0.exportArchive() }
    #expect(ends[0] != archive && ends[0] == ends[1] && ends[1] == ends[2])
    for server in [world.server, again, inMemory] { server.close() }
    #expect(throws: CloudError.self) { try inMemory.exportArchive() }
    #expect(throws: CloudError.self) { try inMemory.importArchive(archive) }
    #expect(throws: CloudError.self) { try inMemory.reset() }
  }

  @Test("A server on which only a schema was deployed takes no archive")
  func deployedSchemaIsNotReplaced() throws {
    let archive = try LoopbackServer(clock: time).exportArchive()
    let server = LoopbackServer(clock: time)
    try server.controls.deploySchema(container: "c")
    let before = try server.exportArchive()
    #expect(before != archive)
    #expect(throws: CloudError.self) { try server.importArchive(archive) }
    #expect(try server.exportArchive() == before)
    server.close()
  }

  /// Saves that need what was imported: a receipt of an upload, a parent, a version.
  private func goOn(_ world: ArchiveWorld, _ server: LoopbackServer) async throws {
    let phone = ArchiveWorld.device("phone", on: server)
    let asset = try #require(world.pending)
    var record = Record(
      id: RecordID(name: "new", zone: zoneA), type: "T", fields: ["file": .asset(asset)])
    record.parent = RecordID(name: "root", zone: zoneA)
    guard
      case .recordsModified(let saved, _) = try await phone.send(
        call("new", .modifyRecords(ModifyRecords(save: [RecordSave(record)]))))
    else { throw ArchiveWorld.Unexpected() }
    #expect(saved.first?.error == nil)
    let root = RecordID(name: "root", zone: zoneA)
    _ = try await phone.send(call("end", .modifyRecords(ModifyRecords(delete: [root]))))
  }

  @Test("Requests are answered during an export, which has the data of its beginning")
  func requestsAreAnsweredDuringAnExport() async throws {
    let archive = try await ArchiveWorld(filling: LoopbackServer(clock: time)).server
      .exportArchive()
    let file = try TemporaryFile()
    defer { file.remove() }
    for server in [LoopbackServer(clock: time), try LoopbackServer(path: file.path, clock: time)] {
      try server.importArchive(archive)
      var lines = ""
      try server.exportArchive { line in
        if lines.isEmpty {
          // The snapshot of a file begins with the first line.
          try server.controls.deleteZone(zoneA, container: "c", account: "alice")
          try server.controls.setQuota(1 << 30, of: "new account")
        }
        lines += line
      }
      #expect(lines == String(decoding: archive, as: UTF8.self))
      #expect(try server.exportArchive() != archive)
      server.close()
    }
    #expect(Array(file.contents.keys) == ["cloud.db"], "no log is left beside the file")
  }

  @Test("An archive without the secret authorizes no client: the server keeps its own secret")
  func archiveWithoutSecretLeavesTheSecretOfTheServer() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(clock: time))
    func lines(of server: LoopbackServer) throws -> [String] {
      var lines: [String] = []
      try server.exportArchive(includesSecret: false) { lines.append($0) }
      return lines
    }
    let archive = try lines(of: world.server)
    #expect(archive.first?.contains("secret") == false)
    for hasAccount in [false, true] {
      let server = LoopbackServer(clock: time)
      if hasAccount { _ = try server.user(of: "new") }
      let secret = try server.executor.inspect { _, storage in try storage.secret() }
      var rest = archive[...]
      try server.importArchive { rest.popFirst() }
      #expect(try server.executor.inspect { _, storage in try storage.secret() } == secret)
      #expect(try lines(of: server) == archive)
    }
  }

  @Test("An import with a new identity makes all change tokens expire, and changes nothing else")
  func anImportWithANewIdentityMakesTokensExpire() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(clock: time))
    let archive = try world.server.exportArchive()
    func changes(_ server: LoopbackServer, since: ChangeToken?) async throws -> ChangeToken {
      let request = FetchZoneChanges(zone: zoneA, since: since)
      guard
        case .zoneChanges(let page) = try await ArchiveWorld.device("phone", on: server)
          .send(call(UUID().uuidString, .fetchZoneChanges(request)))
      else { throw ArchiveWorld.Unexpected() }
      return page.token
    }
    let token = try await changes(world.server, since: nil)
    let (same, new) = (LoopbackServer(clock: time), LoopbackServer(clock: time))
    try same.importArchive(archive)
    try new.importArchive(archive, keepsIdentity: false)
    #expect(try await changes(same, since: token) == token)
    let error = await #expect(throws: CloudError.self) { try await changes(new, since: token) }
    #expect(error?.code == .changeTokenExpired)
    _ = try await changes(new, since: try await changes(new, since: nil))
    let lines = try [archive, new.exportArchive()].map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n")
    }
    #expect(lines[0].dropFirst().dropLast() == lines[1].dropFirst().dropLast())
    #expect(lines[0][0] != lines[1][0])
  }

  @Test("Records of one name in the only zone of each database stay in their databases")
  func recordsStayInTheirDatabases() throws {
    let memory = MemoryStorage(identity: 1, secret: .random())
    for (number, database) in [alice, bob, everyone].enumerated() {
      try memory.commit([
        .putRecord(row("a", 1, text: "text \(number)"), in: database),
        .putRecord(row("b\(number)", 2), in: database),
      ])
    }
    let archive = try lines(of: memory)
    let file = try TemporaryFile()
    defer { file.remove() }
    let onDisk = try SQLiteStorage(path: file.path, identity: 1)
    for storage in [MemoryStorage(identity: 1), onDisk] as [any CloudStorage] {
      try take(archive, into: storage)
      #expect(try lines(of: storage) == archive)
    }
    try onDisk.close()
  }

  @Test("Arbitrary rows survive an archive, in either storage", arguments: 1...20)
  func archiveKeepsArbitraryRows(_ seed: UInt64) throws {
    var random = StorageRandom(seed: seed)
    let names = (1...6).map { "n\($0)" }
    var sequence: UInt64 = 0
    let memory = MemoryStorage(identity: seed << 57, secret: .random())
    for _ in 0..<40 * seed {
      try memory.commit([StorageSample.randomChange(&random, names: names, &sequence)])
    }
    for var row in try memory.databases() {
      row.sequence = sequence
      try memory.commit([.putDatabase(row)])
    }
    let file = try TemporaryFile()
    defer { file.remove() }
    let onDisk = try SQLiteStorage(path: file.path, identity: 1)
    let archive = try lines(of: memory)
    try take(archive, into: onDisk)
    #expect(try lines(of: onDisk) == archive)
    #expect(
      try StorageSample.rows(of: onDisk, names: names)
        == StorageSample.rows(of: memory, names: names))
    let copy = MemoryStorage(identity: 1)
    try take(archive, into: copy)
    #expect(try lines(of: copy) == archive)
    #expect(
      try StorageSample.rows(of: copy, names: names) == StorageSample.rows(of: memory, names: names)
    )
    #expect(try copy.identity() == memory.identity() && copy.secret() == memory.secret())
    // Both keep the same when they go on.
    for _ in 0..<40 {
      let change = StorageSample.randomChange(&random, names: names, &sequence)
      for storage in [memory, copy, onDisk] as [any CloudStorage] { try storage.commit([change]) }
    }
    let end = try lines(of: memory)
    #expect(try lines(of: copy) == end)
    #expect(try lines(of: onDisk) == end)
    for storage in [copy, onDisk] as [any CloudStorage] {
      try storage.commit([.removeEverything(identity: 3, secret: memory.secret())])
      #expect(try lines(of: storage).count == 2)
    }
    try onDisk.close()
  }

  @Test("Archive lines have the expected readable form")
  func archiveLinesAreReadable() async throws {
    let world = World()
    try await world.prepare()
    _ = try await world.phone.send(saving("a"))
    let lines = try String(decoding: world.server.exportArchive(), as: UTF8.self)
      .split(separator: "\n")
    let user = try await user(of: world.phone).rawValue
    let home = #""container":"c","environment":"development","scope":"private","owner":"\#(user)""#
    let expected = [
      #"{"kind":"account","name":"alice","user":"\#(user)"}"#,
      #"{"kind":"database",\#(home),"incarnation":1,"sequence":2,"#
        + #""latest":{"utc":"2001-01-01T00:16:40.001Z","seconds":1000.001},"#
        + #""trimmedThrough":0,"byteCount":2}"#,
      #"{"kind":"record",\#(home),"zone":"A","name":"a","type":"T","changedAt":2,"#
        + #""device":"phone","record":{"changeTag":"2","#
        + #""created":{"time":{"utc":"2001-01-01T00:16:40.001Z","seconds":1000.001},"#
        + #""user":"\#(user)","device":"phone"},"#
        + #""modified":{"time":{"utc":"2001-01-01T00:16:40.001Z","seconds":1000.001},"#
        + #""user":"\#(user)","device":"phone"}}}"#,
      #"{"kind":"subscription",\#(home),"name":"all","watches":"database","#
        + #""notification":{"contentAvailable":true,"mutableContent":false,"badge":false}}"#,
    ]
    for line in expected { #expect(lines.contains { $0 == line }, "\(line)") }
    #expect(
      lines.first?.hasPrefix(
        #"{"format":"swift-cloud-sync server","version":2,"identity":"0000000000000001","secret""#)
        == true)
    #expect(
      lines.last?.hasPrefix(#"{"kind":"end","lines":\#(lines.count - 1),"sha256":""#) == true)
    _ = world.takeHeard()
    world.close()
  }

  /// Proves WS-111.
  @Test("An archive of form 1, which has no digests of requests, is imported and written as form 2")
  func anArchiveOfTheFirstFormIsImported() async throws {
    let world = try await ArchiveWorld(filling: LoopbackServer(clock: time))
    let archive = String(decoding: try world.server.exportArchive(), as: UTF8.self)
    #expect(archive.contains(#","digest":""#))
    var lines = archive.replacing(#/,"digest":"[^"]*"/#, with: "")
      .replacing(#""version":2"#, with: #""version":1"#).split(separator: "\n").dropLast()
      .map { "\($0)\n" }
    let hash = SHA256.hexadecimal(of: lines.joined().utf8)
    lines.append(#"{"kind":"end","lines":\#(lines.count),"sha256":"\#(hash)"}"# + "\n")
    let server = LoopbackServer(clock: time)
    try server.importArchive(Data(lines.joined().utf8))
    let again = String(decoding: try server.exportArchive(), as: UTF8.self)
    #expect(again.contains(#""version":2"#) && !again.contains(#","digest":""#))
    #expect(
      again.split(separator: "\n").dropFirst().dropLast()
        == lines.joined().split(separator: "\n").dropFirst().dropLast())
    server.close()
    world.server.close()
  }

  @Test("Times are written as the calendar defines them")
  func archiveTimesMatchCalendar() {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    var random = StorageRandom(seed: 1)
    var all = [0, -0.25, -978_307_200, -26_438_400, 100_310_400, 3_155_673_600, 2e11]
    for _ in 0..<500 { all.append(Double(random.below(20_000_000_000)) - 12e9 + 0.25) }
    for seconds in all {
      let found = JSON.time(Timestamp(secondsSinceReferenceDate: seconds)).text
      let utc = formatter.string(from: Date(timeIntervalSinceReferenceDate: seconds))
      guard found != #"{"utc":"\#(utc)","seconds":\#(seconds)}"# else { continue }
      Issue.record("\(seconds) is written as \(found)")
    }
  }
}

private let time: @Sendable () -> Timestamp = { Timestamp(secondsSinceReferenceDate: 1_000) }

/// The lines of an archive, without their ends.
func lines(of storage: any CloudStorage) throws -> [String] {
  var lines: [String] = []
  var writer = ArchiveWriter(storage) {
    lines.append(String(decoding: $0.dropLast(), as: UTF8.self))
  }
  try storage.transaction { try writer.run() }
  return lines
}

/// Reads an archive into a storage.
func take(_ lines: [String], into storage: any CloudStorage) throws {
  try storage.transaction {
    var reader = ArchiveReader(storage)
    for line in lines { try reader.take(Array(line.utf8)[...]) }
    try reader.finish()
  }
}
