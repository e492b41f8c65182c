import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// Checks of records, their links and their order.
  static let recordChecks: [StorageCheck] = [
    StorageCheck("a share refers to its root", "S:deleteSelf") { storage in
      var share = row("S", 1)
      share.record?.sharing = ShareDetails(root: RecordID(name: "r", zone: zoneA))
      try storage.put(share)
      return try links(storage, to: "r")
    },
    StorageCheck("a changed record is listed once, at its latest change", "b a|a|b [a]") {
      storage in
      try storage.put(row("a", 1), row("b", 2))
      try storage.put(row("a", 3))
      let first = try "\(changes(storage))|\(changes(storage, after: 2))"
      try storage.put(tombstone("a", 4))
      return try "\(first)|\(changes(storage))"
    },
    StorageCheck("a page ends at the limit, and the next begins after its last number", "a b|c d|e")
    {
      storage in
      try storage.commit(
        ["a", "b", "c", "d", "e"].enumerated().map {
          .putRecord(row($0.element, UInt64($0.offset + 1)), in: alice)
        })
      return try [0, 2, 4].map { try changes(storage, after: $0, limit: 2) }
        .joined(separator: "|")
    },
    StorageCheck("the latest changes come newest first, below a number", "d [b] a|a|a c|3 2 0") {
      storage in
      try storage.put(
        row("a", 2), tombstone("b", 3), row("c", 1), row("d", 4), row("e", 5, in: zoneB))
      let pages = try [(UInt64(Int64.max), 3), (3, 1), (3, 9)].map { before, limit in
        names(
          try storage.latestRecordChanges(of: zoneA, in: alice, before: before, limit: limit))
      }
      let counts = try [(zoneA, 9), (zoneA, 2), (ZoneID(name: "none"), 9)].map { zone, limit in
        "\(try storage.recordCount(of: zone, in: alice, upTo: limit))"
      }
      return "\(pages.joined(separator: "|"))|\(counts.joined(separator: " "))"
    },
    StorageCheck("tombstones are removed up to a number, records are not", "b [c]") { storage in
      try storage.commit([
        .putRecord(tombstone("a", 1), in: alice), .putRecord(row("b", 2), in: alice),
        .putRecord(tombstone("c", 3), in: alice),
        .removeTombstones(of: zoneA, in: alice, through: 2),
      ])
      return try changes(storage)
    },
    StorageCheck(
      "links follow their record: set, changed, deleted", "x:parent x:deleteSelf|x:parent||"
    ) {
      storage in
      try storage.put(row("x", 1, parent: "p", owner: "p"))
      let first = try links(storage, to: "p")
      try storage.put(row("x", 2, parent: "q"))
      let second = try links(storage, to: "q")
      let third = try links(storage, to: "p")
      try storage.put(tombstone("x", 3))
      return try "\(first)|\(second)|\(third)|\(links(storage, to: "q"))"
    },
    StorageCheck("the records of a zone are removed with their links, others are not", "||b|") {
      storage in
      try storage.commit([
        .putRecord(row("x", 1, parent: "p"), in: alice),
        .putRecord(row("b", 2, in: zoneB), in: alice),
        .removeRecords(of: zoneA, in: alice), .removeRecords(of: zoneA, in: bob),
      ])
      return try "\(changes(storage))|\(links(storage, to: "p"))|"
        + "\(changes(storage, zoneB))|\(changes(storage, zoneA, in: bob))"
    },
    StorageCheck("live records of a type come by name, page by page", "a b d|b d|a b|e||b d") {
      storage in
      try storage.put(
        row("d", 1), row("b", 2), row("a", 3), row("c", 4), tombstone("c", 5),
        row("e", 6, in: zoneB))
      func found(
        after name: String? = nil, limit: Int = 9, _ zone: ZoneID = zoneA, type: String = "T"
      ) throws -> String {
        names(
          try storage.records(
            ofType: type, in: zone, of: alice, after: name, limit: limit))
      }
      let pages = try [
        found(), found(after: "a"), found(limit: 2), found(zoneB), found(type: "t"),
      ]
      try storage.put(tombstone("a", 7))
      return try (pages + [found()]).joined(separator: "|")
    },
    StorageCheck("names that no row can have are found nowhere", "true true true ||") { storage in
      try storage.put(row("a", 1, parent: "p"))
      return try "\(storage.record(RecordID(name: "a\0", zone: zoneA), in: alice) == nil) "
        + "\(storage.account(named: "\0") == nil) "
        + "\(storage.zone(ZoneID(name: "\0"), in: alice) == nil) "
        + "\(links(storage, to: "p\0"))|\(changes(storage, ZoneID(name: "\0")))|"
    },
    StorageCheck("a record whose type changed is found by the new type only", "|a|a|") { storage in
      var other = row("a", 2)
      other.type = "U"
      other.record?.type = "U"
      func found(_ type: String) throws -> String {
        names(try storage.records(ofType: type, in: zoneA, of: alice, after: nil, limit: 9))
      }
      try storage.put(row("a", 1), other)
      let first = try "\(found("T"))|\(found("U"))"
      try storage.put(tombstone("a", 3), row("a", 4))
      return try "\(first)|\(found("T"))|\(found("U"))"
    },
  ]

  /// The names of the rows, a tombstone's in brackets.
  static func names(_ rows: [RecordRow]) -> String {
    rows.map { $0.record == nil ? "[\($0.id.name)]" : $0.id.name }.joined(separator: " ")
  }

  static func changes(
    _ storage: any CloudStorage, after sequence: UInt64 = 0, limit: Int = 100,
    _ zone: ZoneID = zoneA, in database: DatabaseID = alice
  ) throws -> String {
    names(try storage.recordChanges(of: zone, in: database, after: sequence, limit: limit))
  }

  static func links(_ storage: any CloudStorage, to name: String) throws -> String {
    try storage.links(to: RecordID(name: name, zone: zoneA), in: alice)
      .map { "\($0.holder.name):\($0.kind)" }.joined(separator: " ")
  }
}
