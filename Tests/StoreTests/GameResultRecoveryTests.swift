import CloudSync
import Foundation
import LoopbackServer
import SyncSupport
import Testing

@testable import GameResultStore

@Suite("Row G: damaged files", .timeLimit(.minutes(10)))
struct GameResultRecoveryTests {
  /// The store's files, and whether a result that was not sent yet and a deletion survive.
  static let files = [
    ("results.json", false, true), ("offline-queue.json", true, false),
    ("cloud-record-metadata.json", true, true), ("sync-settings.json", true, true),
    ("sync-state.data", true, true),
  ]

  @Test(
    "G: A damaged file gives a clear error, is set aside whole, and is refilled from the cloud",
    arguments: files, TabRecoveryTests.Damage.allCases)
  func damagedResultFileIsRefilledFromCloud(
    _ file: (name: String, keepsUnsent: Bool, keepsDeletion: Bool),
    _ damage: TabRecoveryTests.Damage
  ) async throws {
    let server = LoopbackServer()
    let folders = [ResultFolder(), ResultFolder()]
    let other = try ResultDevice(server, "other", account: "ada", folder: folders[1])
    try other.store.start()
    try other.store.importResults(from: wordles(1_900...1_909))
    try await other.store.syncNow()
    let url = folders[0].url.appendingPathComponent(file.name)
    let unsent: UUID
    let deleted = try #require(other.store.results.first?.id)
    do {
      let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
      try phone.store.start()
      try await phone.store.syncNow()
      phone.device.isOnline = false
      unsent = try phone.store.add(sharedText: "Wordle 1,800 4/6").id
      try phone.store.delete(deleted)
      await phone.store.stop()
    }
    try other.store.add(sharedText: "Wordle 1,801 4/6")
    try await other.store.syncNow()

    try damage.strike(url)
    let struck = try? Data(contentsOf: url)
    if damage != .lost {
      let refusal = #expect(throws: FileError.self) {
        try ResultDevice(server, "phone", account: "ada", folder: folders[0])
      }
      #expect(refusal?.description.contains(file.name) == true)
      #expect(try Data(contentsOf: url) == struck)
    }
    let phone = try ResultDevice(
      server, "phone", account: "ada", folder: folders[0], recovering: true)
    let recoveries = phone.store.recoveries
    #expect(recoveries.map(\.error.url.lastPathComponent) == (damage == .lost ? [] : [file.name]))
    for recovery in recoveries { #expect(try Data(contentsOf: recovery.copy) == struck) }
    phone.device.isOnline = true
    try phone.store.start()
    try await phone.store.syncNow()
    try await other.store.syncNow()
    #expect(phone.store.results == other.store.results)
    #expect(try server.results(of: "ada") == phone.store.results.map(\.id.uuidString).sorted())
    #expect((phone.store.result(unsent) != nil) == file.keepsUnsent)
    // A lost queue knows of no deletion; then the cloud's result comes back, and nothing is lost.
    #expect((phone.store.result(deleted) == nil) == file.keepsDeletion)
    #expect(phone.store.status.waiting == 0)
    await phone.store.stop()
    await other.store.stop()
    let next = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    #expect(next.store.results == other.store.results)
  }

  @Test("G: When the owner's name and the tags are both lost, no other account gets the results")
  func resultsWithoutOwnerReachNoOtherAccount() async throws {
    let server = LoopbackServer()
    let folder = ResultFolder()
    do {
      let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
      try phone.store.start()
      try phone.store.importResults(from: wordles(1_900...1_904))
      try await phone.store.syncNow()
      await phone.store.stop()
    }
    for name in ["sync-settings.json", "cloud-record-metadata.json"] {
      try Data("garbage".utf8).write(to: folder.url.appendingPathComponent(name))
    }
    let phone = try ResultDevice(
      server, "phone", account: "ben", folder: folder, recovering: true)
    try phone.store.start()
    try await phone.store.syncNow()
    #expect(phone.store.results.isEmpty)
    #expect(try server.results(of: "ben").isEmpty)
    #expect(folder.names().filter { $0.contains(".damaged-") } == [])
    await phone.store.stop()
  }
}
