import CloudSync
import Foundation
import LoopbackServer
import SyncSupport
import Testing

@testable import IdeaStore

@Suite("Ideas on one device", .timeLimit(.minutes(20)))
struct IdeaStoreTests {
  let server = LoopbackServer()

  @Test("I: An update increments the version by one and sets updatedAt to now")
  func updateIncrementsVersion() throws {
    let phone = try IdeaDevice(server, "phone")
    let made = try phone.store.create(title: "a", description: "b")
    #expect(made.version == 0 && !made.isCompleted && made.updatedAt == made.createdAt)
    #expect(made.deviceId == "phone" && phone.store.syncState(of: made.id)?.isPendingSync == true)
    phone.wall.move(by: 1.234_567)
    let done = try phone.store.update(made.id, isCompleted: true)
    #expect(done.version == 1 && done.isCompleted && done.title == "a" && done.description == "b")
    let date = Date(timeIntervalSince1970: SetClock.noon + 1.235).roundedToMilliseconds
    #expect(done.updatedAt == date)
    #expect(done.createdAt == made.createdAt)
    #expect(try phone.store.update(made.id, title: "c").version == 2)
    #expect(phone.store.ideas.map(\.title) == ["c"])
  }

  @Test("I: a clock that goes back loses no change")
  func clockGoesBack() throws {
    let phone = try IdeaDevice(server, "phone")
    let made = try phone.store.create(title: "a")
    phone.wall.move(by: 10)
    let later = try phone.store.update(made.id, title: "b")
    phone.wall.move(by: -1_000)
    let last = try phone.store.update(made.id, title: "c")
    #expect(last.updatedAt == later.updatedAt && last.updatedAt >= last.createdAt)
    #expect(last.wins(over: later) && last.version == 2)
    try phone.store.delete(made.id)
    #expect(phone.store.deletedIdeas.map(\.deletedAt) == [last.updatedAt])
  }

  @Test("I: Input that breaks a rule changes nothing")
  func invalidInputChangesNothing() throws {
    let phone = try IdeaDevice(server, "phone")
    let made = try phone.store.create(title: "a")
    #expect(throws: IdeaError.titleIsEmpty) { try phone.store.create(title: "") }
    #expect(throws: IdeaError.titleIsTooLong(count: 300)) {
      try phone.store.update(made.id, title: String(repeating: "x", count: 300))
    }
    #expect(throws: IdeaError.descriptionIsTooLong(count: 5_000)) {
      try phone.store.create(title: "x", description: String(repeating: "y", count: 5_000))
    }
    #expect(throws: IdeaError.notFound) { try phone.store.update(UUID(), title: "x") }
    #expect(throws: IdeaError.notFound) { try phone.store.delete(UUID()) }
    #expect(phone.store.ideas == [made])
    try phone.store.delete(made.id)
    #expect(throws: IdeaError.isDeleted) { try phone.store.update(made.id, title: "x") }
    #expect(throws: IdeaError.deviceIdIsEmpty) {
      try IdeaStore(
        directory: phone.folder.url, container: phone.store.container, deviceID: "")
    }
  }

  @Test("I: A deleted idea stays, marked with the time, and a restart keeps everything")
  func deletedIdeaStaysMarked() async throws {
    let folder = ResultFolder()
    var canonical = ""
    var log: [IdeaLogEntry] = []
    do {
      let phone = try IdeaDevice(server, "phone", folder: folder)
      let first = try phone.store.create(title: "one")
      try phone.store.create(title: "two")
      phone.wall.move(by: 5)
      try phone.store.delete(first.id)
      canonical = phone.store.canonicalText
      log = phone.store.log
    }
    let phone = try IdeaDevice(server, "phone", folder: folder)
    #expect(phone.store.canonicalText == canonical && phone.titles == ["two"])
    #expect(phone.store.deletedIdeas.map(\.idea.title) == ["one"])
    #expect(
      phone.store.deletedIdeas.map(\.deletedAt) == [
        Date(timeIntervalSince1970: SetClock.noon + 5)
      ])
    #expect(phone.store.log == log && log.map(\.operation) == [.create, .create, .delete])
    #expect(phone.store.status.pending == 2)
    #expect(folder.names() == ["ideas.journal"])
  }

  @Test("I: The sync log is bounded and contains no content")
  func syncLogIsBoundedWithoutContent() async throws {
    let phone = try IdeaDevice(server, "phone")
    for number in 0..<250 { try phone.store.create(title: "Geheimnis \(number)") }
    let log = phone.store.log
    #expect(log.count == 200 && log.allSatisfy { $0.operation == .create })
    #expect(!log.contains { "\($0)".contains("Geheimnis") })
    let again = try IdeaDevice(server, "again", folder: phone.folder)
    #expect(again.store.log == log)
  }

  @Test("I: A write torn by a crash is dropped, and the next write replaces it")
  func tornWriteIsDropped() throws {
    let folder = ResultFolder()
    let url = folder.url.appendingPathComponent("ideas.journal")
    let phone = try IdeaDevice(server, "phone", folder: folder)
    try phone.store.create(title: "one")
    let whole = try Data(contentsOf: url)
    try phone.store.create(title: "two")
    let both = try Data(contentsOf: url)
    for length in stride(from: whole.count, to: both.count, by: 37) {
      try both.prefix(length).write(to: url)
      let torn = try IdeaDevice(server, "torn", folder: folder)
      #expect(torn.titles == ["one"] && torn.store.status.damage == nil, "\(length) bytes")
      try torn.store.create(title: "three")
      let again = try IdeaDevice(server, "again", folder: folder)
      #expect(Set(again.titles) == ["one", "three"], "\(length) bytes")
    }
  }

  @Test("I: A damaged file is set aside with a clear error, and all is fetched from the cloud")
  func damagedIdeaFileIsRefetched() async throws {
    let folder = ResultFolder()
    let url = folder.url.appendingPathComponent("ideas.journal")
    do {
      let phone = try IdeaDevice(server, "phone", folder: folder)
      for number in 0..<5 { try phone.store.create(title: "idea \(number)") }
      try await phone.begin()
      #expect(try server.ideas().count == 5)
      await phone.store.stop()
    }
    let whole = try Data(contentsOf: url)
    var damages: [Data] = [Data("nonsense".utf8), Data("idea-journal x\n".utf8)]
    for place in stride(from: 3, to: whole.count - 1, by: whole.count / 7) {
      var data = whole
      data[place] ^= 0x10
      damages.append(data)
    }
    for (number, data) in damages.enumerated() {
      let fresh = ResultFolder()
      try FileManager.default.createDirectory(at: fresh.url, withIntermediateDirectories: true)
      try data.write(to: fresh.url.appendingPathComponent("ideas.journal"))
      let phone = try IdeaDevice(server, "phone", folder: fresh)
      let damage = try #require(phone.store.status.damage, "damage \(number)")
      #expect(damage.contains("ideas.journal.damaged-1"))
      #expect(fresh.names() == ["ideas.journal.damaged-1"])
      try await phone.begin()
      #expect(phone.store.ideas.count == 5, "damage \(number)")
      await phone.store.stop()
      let again = try IdeaDevice(server, "phone", folder: fresh)
      #expect(again.store.status.damage == nil && again.store.ideas.count == 5)
    }
  }

  @Test("I: A file of a newer version is refused and left unchanged")
  func newerFileIsRefusedUnchanged() throws {
    let folder = ResultFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let url = folder.url.appendingPathComponent("ideas.journal")
    let data = Data("idea-journal 2\nwhatever\n".utf8)
    try data.write(to: url)
    #expect(throws: FileError.self) { try IdeaDevice(server, "phone", folder: folder) }
    #expect(try Data(contentsOf: url) == data && folder.names() == ["ideas.journal"])
  }

  @Test("I: 10,000 ideas cost in proportion to their size, and sync both ways")
  func tenThousandIdeasSyncBothWays() async throws {
    let phone = try IdeaDevice(server, "phone")
    let lines = (0..<10_000).map { "idea \($0),some words about it" }
    let csv = Data(("title,description\n" + lines.joined(separator: "\n")).utf8)
    #expect(try phone.store.importIdeas(fromCSV: csv).added.count == 10_000)
    let url = phone.folder.url.appendingPathComponent("ideas.journal")
    let imported = try Data(contentsOf: url).count
    // One change writes one row, not ten thousand.
    let idea = try #require(phone.store.ideas.first)
    try phone.store.update(idea.id, isCompleted: true)
    #expect(try Data(contentsOf: url).count - imported < 2_000)
    try await phone.begin()
    await phone.status(\.isDone)
    #expect(try server.ideas().count == 10_000)
    let sends = server.controls.requests.filter { $0.kind == .modifyRecords }
    #expect(sends.allSatisfy { $0.itemCount <= 100 })
    let tablet = try IdeaDevice(server, "tablet")
    try await tablet.begin()
    #expect(tablet.store.canonicalText == phone.store.canonicalText)
    // Outdated rows do not pile up for ever.
    #expect(try Data(contentsOf: url).count < 6 * imported)
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: A journal of outdated rows is rewritten with the same contents")
  func outdatedJournalIsRewritten() throws {
    let phone = try IdeaDevice(server, "phone")
    let idea = try phone.store.create(title: "a")
    for number in 0..<1_500 { try phone.store.update(idea.id, title: "title \(number)") }
    let url = phone.folder.url.appendingPathComponent("ideas.journal")
    let lines = try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")).count
    #expect(lines < 1_010)
    let again = try IdeaDevice(server, "again", folder: phone.folder)
    #expect(again.store.canonicalText == phone.store.canonicalText)
    #expect(again.store.ideas.map(\.version) == [1_500])
    #expect(again.store.log == phone.store.log)
  }
}
