import CloudSync
import Foundation
import LoopbackServer
import SyncSupport
import Testing

@testable import GameResultStore

@Suite("Row G: damaged files", .timeLimit(.minutes(20)))
struct GameResultRecoveryTests {
  /// The store's files.
  static let files = ["results.journal", "sync-state.data"]

  @Test(
    "G: A damaged file gives a clear error, is set aside whole, and is refilled from the cloud",
    arguments: files, TabRecoveryTests.Damage.allCases)
  func damagedResultFileIsRefilledFromCloud(
    _ name: String, _ damage: TabRecoveryTests.Damage
  ) async throws {
    // A file of results without its end is what a crash leaves, and is no damage.
    let isDamage = damage != .lost && !(damage == .cutOff && name == Self.files[0])
    let server = LoopbackServer()
    let folders = [ResultFolder(), ResultFolder()]
    let other = try ResultDevice(server, "other", account: "ada", folder: folders[1])
    try other.store.start()
    try other.store.importResults(from: wordles(1_900...1_909))
    try await other.store.syncNow()
    let url = folders[0].url.appendingPathComponent(name)
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
    if isDamage {
      let refusal = #expect(throws: FileError.self) {
        try ResultDevice(server, "phone", account: "ada", folder: folders[0]).store.start()
      }
      #expect(refusal?.description.contains(name) == true)
      #expect(try Data(contentsOf: url) == struck)
    }
    let phone = try ResultDevice(
      server, "phone", account: "ada", folder: folders[0], recovering: true)
    try phone.store.start()
    let recoveries = phone.store.recoveries
    #expect(recoveries.map(\.error.url.lastPathComponent) == (isDamage ? [name] : []))
    for recovery in recoveries { #expect(try Data(contentsOf: recovery.copy) == struck) }
    phone.device.isOnline = true
    try await phone.store.syncNow()
    try await other.store.syncNow()
    #expect(phone.store.results == other.store.results)
    #expect(try server.results(of: "ada") == phone.store.results.map(\.id.uuidString).sorted())
    // Lost results know of no deletion; then the server's result returns, and nothing is lost.
    if name == "sync-state.data" {
      #expect(phone.store.result(unsent) != nil && phone.store.result(deleted) == nil)
    } else if damage != .cutOff, damage != .oneBit {
      #expect(phone.store.result(unsent) == nil && phone.store.result(deleted) != nil)
    }
    #expect(phone.store.status.waiting == 0)
    await phone.store.stop()
    await other.store.stop()
    let next = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    #expect(next.store.results == other.store.results)
  }

  @Test("G: When the owner's name is lost with the results, no other account gets them")
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
    // The first line has the owner's name; the results stand in those after it.
    let url = folder.url.appendingPathComponent("results.journal")
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    let kept = lines.filter { line in
      !line.replacing(#""owner":"__defaultOwner__""#, with: "").contains("owner")
    }
    #expect(kept.count < lines.count && kept.contains { $0.contains("Wordle") })
    try Data((kept.joined(separator: "\n") + "\n").utf8 + Data("garbage\n".utf8)).write(to: url)
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
