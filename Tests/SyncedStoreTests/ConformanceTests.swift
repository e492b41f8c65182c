import CloudSync
import CloudSyncTesting
import Foundation
import Testing

@testable import SyncedStore

/// A store of notes as the conformance suite uses it.
final class ConformingNotes: ConformingApp {
  let store: SyncedStore
  private let now: @Sendable () -> Double

  init(_ surroundings: AppSurroundings, merging policy: MergePolicy<Note>) throws {
    store = try SyncedStore(
      zoneID: NoteDevice.zone, directory: surroundings.folder,
      types: [SyncedType(Note.self, merging: policy)])
    now = { surroundings.now.timeIntervalSince1970 }
    store.connect(
      to: surroundings.container, automaticallySync: false, clock: surroundings.clock,
      now: { surroundings.now })
    try store.start()
  }

  var items: [String: String] {
    Dictionary(
      store.items(Note.self).map { ($0.id, $0.text) }, uniquingKeysWith: { $0 + "|" + $1 })
  }

  func write(_ text: String, as name: String) throws {
    // Each edit is later than the one that it replaces.
    let before = store.item(Note.self, named: name)?.modified ?? 0
    try store.save(Note(name, text, modified: max(before + 1, now())))
  }

  func delete(_ name: String) throws { try store.delete(Note(name, "")) }

  func sync() async throws { try await store.sync() }
}

@Suite("SyncedStore in the conformance suite", .timeLimit(.minutes(20)))
struct ConformanceTests {
  static let policies: [(String, MergePolicy<Note>)] = [
    ("later wins", Note.later), ("server wins", .serverWins), ("client wins", .clientWins),
    ("per property", .perProperty(otherwise: Note.later)),
    ("three-way", .threeWay { _, mine, theirs in mine.text > theirs.text ? mine : theirs }),
  ]

  /// Proves X8.
  @Test("A store passes with every policy", arguments: policies.indices)
  func storePassesWithEveryPolicy(index: Int) async throws {
    let (name, policy) = Self.policies[index]
    let suite = DelegateConformance(name, zone: NoteDevice.zone) {
      try ConformingNotes($0, merging: policy)
    }
    try await suite.run().check()
  }

  @Test("An app whose devices agree and keep neither of two edits is reported by name")
  func lossOfBothEditsIsReported() async throws {
    let faulty = MergePolicy<Note>.threeWay { base, mine, _ in base ?? Note(mine.id, "") }
    let suite = DelegateConformance("neither edit", zone: NoteDevice.zone) {
      try ConformingNotes($0, merging: faulty)
    }
    let report = await suite.run([.conflicts])
    #expect(Set(report.findings.map(\.defect)) == [.conflictsLoseBothEdits], "\(report)")
  }
}
