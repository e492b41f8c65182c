import CloudSync
import Foundation
import SyncedStore

/// The cost of a change in a store of many items, and of opening it.
enum ItemBenchmarks {
  private static let many = 100_000

  /// P27: one item saved among 100,000 against a synchronized append of the same bytes, and the
  /// opening of 100,000 items against the decoding of their JSON.
  static func all() -> [Benchmark] { [saving, opening] }

  /// An item of an app.
  private struct Item: SyncedItem {
    static let recordType: CKRecord.RecordType = "Item"
    let recordName: String
    var text: String
    var modified = 0.0

    init(_ number: Int) {
      recordName = "item-\(number)"
      text = "Item \(number), with a text of ordinary length."
    }

    init?(_ record: CKRecord) { nil }

    func copy(to record: CKRecord) {}
  }

  /// A store in a folder that is removed with it.
  private final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "cloudsync-bench-\(UUID().uuidString)")

    init(_ count: Int) throws {
      try open().change { change in
        for number in 0..<count { try change.save(Item(number)) }
      }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func open() throws -> SyncedStore {
      try SyncedStore(
        zoneID: CKRecordZone.ID(zoneName: "Items"), directory: url,
        types: [SyncedType(Item.self, merging: .serverWins)])
    }

    var journal: URL { url.appending(path: "synced-items.journal") }
  }

  private static let saves = 200

  private static func saving(_ count: Int) -> Side {
    Side(
      "among \(count)", operations: saves,
      setUp: { () -> (Folder, SyncedStore) in
        let folder = try Folder(count)
        return (folder, try folder.open())
      },
      body: { context in
        for number in 0..<saves {
          var item = Item(number)
          item.modified = 1
          try context.1.save(item)
        }
      })
  }

  /// The bytes that the store appends, appended and synchronized without a store.
  private static var appending: Side {
    Side(
      "an append and fdatasync of the same bytes", operations: saves,
      setUp: { () -> (Folder, Data, FileHandle) in
        let folder = try Folder(1)
        let before = try Data(contentsOf: folder.journal).count
        var item = Item(0)
        item.modified = 1
        try folder.open().save(item)
        let line = try Data(contentsOf: folder.journal).dropFirst(before)
        let file = folder.url.appending(path: "raw")
        try Data().write(to: file)
        return (folder, Data(line), try FileHandle(forWritingTo: file))
      },
      body: { context in
        for _ in 0..<saves {
          try context.2.write(contentsOf: context.1)
          guard fdatasync(context.2.fileDescriptor) == 0 else {
            throw CocoaError(.fileWriteUnknown)
          }
        }
      })
  }

  private static var saving: Benchmark {
    Benchmark(
      name: "P27 save one item among 100,000", goal: 1.5, subject: saving(many),
      reference: appending, rounds: 5)
  }

  private static var opening: Benchmark {
    Benchmark(
      name: "P27 open a store of 100,000 items", goal: 2,
      subject: Side(
        "the store", operations: many, setUp: { try Folder(many) },
        body: { folder in keep(try folder.open()) }),
      reference: Side(
        "a compact JSON array of the items, decoded", operations: many,
        setUp: { try JSONEncoder().encode((0..<many).map { Item($0) }) },
        body: { keep(try JSONDecoder().decode([Item].self, from: $0)) }), rounds: 3)
  }
}
