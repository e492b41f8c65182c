import CloudSync
import DurableFiles
import Foundation
import SyncedStore
import Synchronization

/// A `SyncedStore` without a server: its items, with local changes and records that it receives.
package final class ItemStoreSubject: CrashSubject {
  /// An item of the scenario.
  struct Item: SyncedItem {
    static let recordType: CKRecord.RecordType = "Item"
    let recordName: String
    var text: String

    init(_ name: String, _ text: String) {
      recordName = name
      self.text = text
    }

    init?(_ record: CKRecord) {
      guard let text = record["text"] as? String else { return nil }
      self.init(record.recordID.recordName, text)
    }

    func copy(to record: CKRecord) {
      record["text"] = text
    }
  }

  /// A change of several items at once.
  package struct Change: Sendable {
    /// The new text of each item; `nil` deletes it.
    var texts: [String: String?]
    /// Whether the server sent it; items of the server and of the device have different names.
    var isReceived: Bool
  }

  private static let zone = CKRecordZone.ID(zoneName: "Items")

  /// The store; `nil` after it is closed.
  private let store: Mutex<SyncedStore?>

  /// The subject's name.
  package static var name: String { "item store" }
  /// A new store is empty.
  package static var empty: [String: String] { [:] }
  /// A store takes changes after a failure.
  package static var refusesAfterFailure: Bool { false }

  /// Opens the store.
  package init(on disk: SimulatedDisk) async throws {
    var files = SyncedStore.FileNames()
    files.disk = disk
    let store = try SyncedStore(
      zoneID: Self.zone, directory: URL(fileURLWithPath: "/device"),
      types: [SyncedType(Item.self, merging: .serverWins)], files: files)
    self.store = Mutex(store)
  }

  /// The texts of all items.
  package func contents() async throws -> [String: String] {
    let items = store.withLock { $0?.items(Item.self) ?? [] }
    return Dictionary(items.map { ($0.recordName, $0.text) }, uniquingKeysWith: { $0 + $1 })
  }

  /// One to three items with texts of all lengths; large ones make the file be written anew.
  package static func change(
    _ step: Int, of contents: [String: String], _ random: inout SeededRandom
  ) -> (Change, [String: String]) {
    var change = Change(texts: [:], isReceived: random.chance(0.3))
    var next = contents
    for _ in 0..<random.pick([1, 1, 2, 3]) {
      let name = "\(change.isReceived ? "server" : "device")-\(random.below(4))"
      guard change.isReceived || contents[name] == nil || random.chance(0.8) else {
        change.texts[name] = .some(nil)
        next[name] = nil
        continue
      }
      let length = random.pick([0, 10, 300, 480, 512, 1_500, 90_000])
      let text = "\(step) " + String(repeating: "x", count: length)
      change.texts[name] = text
      next[name] = text
    }
    return (change, next)
  }

  /// Makes the change, as a user does or as a fetch does.
  package func apply(_ change: Change) async throws {
    guard let store = store.withLock({ $0 }) else { return }
    guard change.isReceived else {
      try store.change { transaction in
        for (name, text) in change.texts.sorted(by: { $0.key < $1.key }) {
          if let text {
            try transaction.save(Item(name, text))
          } else {
            transaction.delete(Item.self, named: name)
          }
        }
      }
      return
    }
    let records = change.texts.sorted { $0.key < $1.key }.map { name, text in
      let id = CKRecord.ID(recordName: name, zoneID: Self.zone)
      let record = CKRecord(recordType: Item.recordType, recordID: id)
      record["text"] = text ?? ""
      return record
    }
    try store.receive(records)
  }

  /// Releases the store.
  package func close() async { store.withLock { $0 = nil } }

  /// Whether it is the error of a file.
  package static func isTyped(_ error: any Error) -> Bool { error is FileError }
}
