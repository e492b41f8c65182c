import CloudSync
import Foundation
import Testing

@testable import SyncedStore

@Suite("The form of items in a store's file")
struct StoredColumnsTests {
  @Test("Each setting that only a sync stores shows that the items may belong to an account")
  func eachTraceOfSyncIsSeen() {
    var table = ItemTable(
      types: [], zone: NoteDevice.zone, accepting: { _ in true }, recreating: { _ in true })
    let unused = table.settings
    #expect(!table.mayHaveSynced)
    let traces: [(inout StoreSettings) -> Void] = [
      { $0.lastSync = Date(timeIntervalSince1970: 1) }, { $0.states = ["x"] },
      { $0.zones = [StoreSettings.Zone(name: "Notes", owner: "_a")] },
    ]
    for trace in traces {
      table.settings = unused
      trace(&table.settings)
      #expect(table.mayHaveSynced, "\(table.settings)")
    }
  }

  private struct Tag: SyncedItem, Identifiable {
    static let recordType: CKRecord.RecordType = "Tag"
    let id: String

    init(_ id: String) { self.id = id }

    init?(_ record: CKRecord) { id = record.recordID.recordName }

    func copy(to record: CKRecord) {}
  }

  private static let types = Dictionary(
    uniqueKeysWithValues: [
      SyncedType(Note.self, merging: .serverWins), SyncedType(Tag.self, merging: .serverWins),
    ].map { ($0.recordType, $0) })

  private static func entry(
    _ type: String, _ order: UInt64, _ change: (inout Entry) -> Void = { _ in }
  ) -> Entry {
    var entry = Entry(type: type, order: order)
    change(&entry)
    return entry
  }

  /// Entries with each part, in several types and zones, and removed ones.
  private static var changes: [StoredChange] {
    func change(_ name: String, zone: String? = nil, owner: String? = nil, _ entry: Entry?)
      -> StoredChange
    {
      StoredChange(key: StoredChange.Key(name: name, zone: zone, owner: owner), entry: entry)
    }
    return [
      change("plain", entry("Note", 1) { $0.item = Note("plain", "a") }),
      change("tag", entry("Tag", 2) { $0.item = Tag("tag") }),
      change("removed", nil),
      change(
        "edited",
        entry("Note", 3) {
          $0.item = Note("edited", "c")
          $0.base = Note("edited", "b")
          $0.offered = [Note("edited", "a"), Note("edited", "b")]
          $0.systemFields = Data([1, 2, 3])
          $0.change = Entry.Change(
            isDeletion: false, number: 7, wasOffered: true, isHandedOver: true)
        }),
      change(
        "edited again",
        entry("Note", 8) {
          $0.offered = [Note("edited again", "a")]
          $0.change = Entry.Change(isDeletion: false, number: 9, wasOffered: true)
        }),
      change(
        "deleted",
        entry("Note", 4) { $0.change = Entry.Change(isDeletion: true, number: .max) }),
      change("newer", entry("Note", 5) { $0.unreadable = Data([4]) }),
      change("plain", zone: "Other", entry("Note", 6) { $0.item = Note("plain", "d") }),
      change("plain", zone: "Other", owner: "ann", nil),
      change("unknown", entry("Gone", 7) { $0.systemFields = Data([5]) }),
      StoredChange(handedOver: [StoredChange.Key(name: "edited", zone: "Other")]),
      StoredChange(settings: StoreSettings(owner: "ann", states: ["x"])),
    ]
  }

  private static func decode(_ data: Data) throws -> [StoredColumns] {
    let decoder = JSONDecoder()
    decoder.userInfo[try #require(StoredColumns.types)] = types
    return try decoder.decode([StoredColumns].self, from: data)
  }

  private static func text(_ entry: Entry) -> String {
    func text(_ item: (any SyncedItem)?) -> String { item.map { "\($0)" } ?? "-" }
    return "\(entry.type) \(entry.order) \(text(entry.item)) \(text(entry.base)) "
      + "\(entry.offered.map(text)) \(entry.systemFields.map(Array.init) ?? []) "
      + "\(entry.unreadable.map(Array.init) ?? []) \(entry.change.map { "\($0)" } ?? "-")"
  }

  private static func texts(_ changes: [StoredChange]) -> [String] {
    changes.map { change in
      "\(change.key.map { "\($0)" } ?? "-") \(change.entry.map(text) ?? "-") "
        + "\(change.handedOver ?? []) \(change.settings.map { "\($0)" } ?? "-")"
    }
  }

  @Test("Entries with all their parts are read as they were written, whatever stands beside them")
  func entriesAreReadAsWritten() throws {
    let changes = Self.changes
    for count in 0...changes.count {
      for start in 0...(changes.count - count) {
        let some = Array(changes[start..<(start + count)])
        let read = try Self.decode(JSONEncoder().encode(StoredColumns.columns(of: some)))
        #expect(Self.texts(read.flatMap(\.changes)).sorted() == Self.texts(some).sorted())
      }
    }
  }

  @Test("Arrays that do not fit the names are refused")
  func arraysOfOtherLengthsAreRefused() throws {
    let group = #"{"n":["a","b"],"t":"Note","p":[1,2],"#
    let note = #"{"id":"a","title":"","text":"","modified":0,"isSynced":true}"#
    let wrong = [
      #"{"n":["a","b"],"t":"Note","p":[1]}"#, #"{"n":["a","b"],"t":"Note"}"#,
      group + #""s":["AQ=="]}"#, group + #""u":[null]}"#, group + #""c":[1,2,3]}"#,
      group + #""d":[1]}"#, group + #""c":[1,2],"w":[true]}"#, group + #""i":[\#(note)]}"#,
      group + #""i":[\#(note)],"I":[2]}"#, group + #""i":[\#(note)],"I":[-1]}"#,
      group + #""i":[\#(note)],"I":[0,1]}"#,
    ]
    for text in wrong {
      #expect(throws: DecodingError.self, "\(text)") { try Self.decode(Data("[\(text)]".utf8)) }
    }
    let good = try Self.decode(Data("[\(group)\"i\":[\(note)],\"I\":[1]}]".utf8))
    #expect(good[0].changes[0].entry?.item == nil && good[0].changes[1].entry?.item != nil)
    #expect(throws: UnusableContent.self) {
      try Self.decode(Data(#"[{"n":["a"],"t":"Gone","p":[1],"i":[{}]}]"#.utf8))
    }
  }
}
