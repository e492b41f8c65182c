import ClipboardStore
import CloudSyncTesting
import Foundation
import GameResultStore
import SyncSupport
import TabStore

/// The same ID for the same name in every run.
func itemID(_ name: String) -> UUID {
  var sums: [UInt64] = []
  for salt in UInt8(1)...2 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in [salt] + Array(name.utf8) { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    sums.append(sum)
  }
  let bytes = sums.flatMap { sum in (0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) } }
  return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
}

/// Scratch tabs.
final class TestedTabs: ConformingApp {
  private let tabs: TabStore
  private let store: SyncedStore
  private let now: @Sendable () -> Date

  init(_ surroundings: AppSurroundings) throws {
    store = try .itsypad(directory: surroundings.folder)
    tabs = TabStore(store)
    store.connect(
      to: surroundings.container, automaticallySync: false, clock: surroundings.clock)
    now = { surroundings.now }
    try store.start()
  }

  var items: [String: String] {
    Dictionary(tabs.tabs.map { ($0.name, $0.content) }) { $0 + " and " + $1 }
  }

  func write(_ text: String, as name: String) throws {
    let id = itemID(name)
    if tabs.tab(id) != nil {
      try tabs.updateContent(id, text, now: now())
    } else {
      try tabs.add(ScratchTab(id: id, name: name, content: text, lastModified: now()))
    }
  }

  func delete(_ name: String) throws { try tabs.close(itemID(name)) }

  func sync() async throws { try await store.sync() }
}

/// The copied text.
final class TestedClipboard: ConformingApp {
  private let clipboard: ClipboardStore
  private let store: SyncedStore
  private let now: @Sendable () -> Date

  init(_ surroundings: AppSurroundings) throws {
    store = try .itsypad(directory: surroundings.folder)
    clipboard = ClipboardStore(store)
    store.connect(
      to: surroundings.container, automaticallySync: false, clock: surroundings.clock)
    now = { surroundings.now }
    try store.start()
  }

  /// Entries have no name, so it stands in the text.
  var items: [String: String] {
    let parts = clipboard.entries.compactMap { $0.text?.split(separator: ":").map(String.init) }
    return Dictionary(parts.map { ($0[0], $0[1]) }) { $0 + " and " + $1 }
  }

  func write(_ text: String, as name: String) throws {
    try clipboard.add(
      ClipboardEntry(id: itemID(name), text: "\(name):\(text)", timestamp: now()))
  }

  func delete(_ name: String) throws { try clipboard.delete(itemID(name)) }

  func sync() async throws { try await store.sync() }
}

/// Results of puzzles.
final class TestedResults: ConformingApp {
  private let store: GameResultStore
  private let now: @Sendable () -> Date

  init(_ surroundings: AppSurroundings) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
    store = try GameResultStore(
      directory: surroundings.folder, container: surroundings.container,
      clock: surroundings.clock, calendar: calendar, now: { surroundings.now })
    now = { surroundings.now }
    try store.start()
  }

  var items: [String: String] {
    Dictionary(store.results.map { ($0.gameName, $0.sharedText) }) { $0 + " and " + $1 }
  }

  func write(_ text: String, as name: String) throws {
    try store.add([
      GameResult(
        id: itemID(name), gameId: itemID("game " + name), gameName: name, date: now(), score: nil,
        maxAttempts: 6, completed: false, sharedText: text)
    ])
  }

  func delete(_ name: String) throws { try store.delete(itemID(name)) }

  func sync() async throws { try await store.syncNow() }
}
