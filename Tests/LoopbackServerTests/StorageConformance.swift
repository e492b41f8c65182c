import CloudMachine
import CloudProtocol
import Records
import Testing

/// One thing that every storage must do.
struct StorageCheck: CustomTestStringConvertible, Sendable {
  let name: String
  /// The found and the expected results.
  let body: @Sendable (any CloudStorage) throws -> (found: String, expected: String)

  var testDescription: String { name }

  init(
    _ name: String, _ expected: String, _ body: @escaping @Sendable (any CloudStorage) throws -> Any
  ) {
    self.name = name
    self.body = { ("\(try body($0))", expected) }
  }
}

private struct Stop: Error {}

/// The names of the rows, a tombstone's in brackets.
private func names(_ rows: [RecordRow]) -> String {
  rows.map { $0.record == nil ? "[\($0.id.name)]" : $0.id.name }.joined(separator: " ")
}

private func changes(
  _ storage: any CloudStorage, after sequence: UInt64 = 0, limit: Int = 100,
  _ zone: ZoneID = zoneA, in database: DatabaseID = alice
) throws -> String {
  names(try storage.recordChanges(of: zone, in: database, after: sequence, limit: limit))
}

private func links(_ storage: any CloudStorage, to name: String) throws -> String {
  try storage.links(to: RecordID(name: name, zone: zoneA), in: alice)
    .map { "\($0.holder.name):\($0.kind)" }.joined(separator: " ")
}

extension StorageCheck {
  static let all: [StorageCheck] = [
    StorageCheck("an empty storage knows nothing", "[] nil nil [] nil []") { storage in
      let id = RecordID(name: "a", zone: zoneA)
      return "\(try storage.accounts()) \(try storage.database(alice).map { "\($0)" } ?? "nil") "
        + "\(try storage.zone(zoneA, in: alice).map { "\($0)" } ?? "nil") "
        + "\(try storage.zones(in: alice)) "
        + "\(try storage.record(id, in: alice).map { "\($0)" } ?? "nil") "
        + "\(try storage.links(to: id, in: alice))"
    },
    StorageCheck("its identity is the one it was made with", "9223372036854775817") {
      try $0.identity()
    },
    StorageCheck("its secret stays the same, and is not its identity", "true true") { storage in
      let secret = try storage.secret()
      let identity = try storage.identity()
      return "\(try storage.secret() == secret) "
        + "\(secret.first != identity && secret.second != identity)"
    },
    StorageCheck(
      "databases: every one with a row, in order, the latest row",
      "b/1/ c/1/ c/1/_b c/2/_a c/2/_z 7"
    ) { storage in
      func id(_ container: String, _ scope: DatabaseScope, _ owner: String?) -> DatabaseID {
        DatabaseID(
          container: container, environment: .production, scope: scope,
          owner: owner.map { UserID($0) })
      }
      let ids = [
        id("c", .private, "_z"), id("c", .public, "_b"), id("b", .public, nil),
        id("c", .public, nil), id("c", .private, "_a"),
      ]
      try storage.commit(ids.map { .putDatabase(DatabaseRow(id: $0, incarnation: 1)) })
      try storage.commit([
        .putDatabase(DatabaseRow(id: ids[0], incarnation: 1, sequence: 7)),
        .putZone(ZoneRow(id: zoneA, incarnation: 1, changedAt: 1), in: id("d", .private, "_d")),
      ])
      let rows = try storage.databases()
      let names = rows.map { row in
        "\(row.id.container)/\(row.id.scope.rawValue)/\(row.id.owner?.rawValue ?? "")"
      }
      return "\(names.joined(separator: " ")) \(rows.last?.sequence ?? 0)"
    },
    StorageCheck("what rows say of shares and people comes back", "true true true true") {
      storage in
      let memberships = [
        ShareMembership(share: "S", since: 1, until: 3), ShareMembership(share: "T", since: 4),
      ]
      var record = row("a", 5)
      record.memberships = memberships
      record.record?.sharing = ShareDetails(root: RecordID(name: "r", zone: zoneA), url: "u")
      var gone = tombstone("b", 6)
      gone.memberships = memberships
      let zone = ZoneRow(
        id: zoneA, incarnation: 1, changedAt: 6,
        sharing: ZoneSharing(
          hierarchies: 2, isZoneWide: true, viewers: [UserID("_a"), UserID("_b")],
          memberships: memberships))
      let account = AccountRow(
        name: "ann", user: UserID("_a"),
        person: AccountRow.Person(email: "a@b", phone: nil, givenName: "Ann", familyName: "B"))
      try storage.commit([
        .putAccount(account), .putZone(zone, in: alice), .putRecord(record, in: alice),
        .putRecord(gone, in: alice),
      ])
      return try "\(storage.account(named: "ann") == account) "
        + "\(storage.zone(zoneA, in: alice) == zone) "
        + "\(storage.record(record.id, in: alice) == record) "
        + "\(storage.record(gone.id, in: alice) == gone)"
    },
    StorageCheck("a share points at its root", "S:deleteSelf") { storage in
      var share = row("S", 1)
      share.record?.sharing = ShareDetails(root: RecordID(name: "r", zone: zoneA))
      try storage.commit([.putRecord(share, in: alice)])
      return try links(storage, to: "r")
    },
    StorageCheck("accounts are found by name and user, and replaced", "ann bob|7|nil") { storage in
      try storage.commit([
        .putAccount(AccountRow(name: "bob", user: UserID("_b"))),
        .putAccount(AccountRow(name: "ann", user: UserID("_a"))),
        .putAccount(AccountRow(name: "ann", user: UserID("_a"), quota: 7)),
      ])
      let names = try storage.accounts().map(\.name).joined(separator: " ")
      let quota = try storage.account(UserID("_a"))?.quota ?? 0
      return "\(names)|\(quota)|\(try storage.account(named: "_a").map { "\($0)" } ?? "nil")"
    },
    StorageCheck("databases of one name in two worlds share nothing", "1 2 nil") { storage in
      try storage.commit([
        .putDatabase(DatabaseRow(id: alice, incarnation: 1, sequence: 1)),
        .putDatabase(DatabaseRow(id: bob, incarnation: .max, sequence: 2)),
      ])
      return "\(try storage.database(alice)?.sequence ?? 0) "
        + "\(try storage.database(bob)?.sequence ?? 0) "
        + "\(try storage.database(everyone).map { "\($0)" } ?? "nil")"
    },
    StorageCheck("a database's row comes back whole", "true") { storage in
      let row = DatabaseRow(
        id: everyone, incarnation: .max, sequence: 5,
        latest: Timestamp(secondsSinceReferenceDate: -0.1), trimmedThrough: 3, byteCount: 9)
      try storage.commit([.putDatabase(row)])
      return try storage.database(everyone) == row
    },
    StorageCheck("zone changes come oldest first, after a number, up to a limit", "B A|A|B") {
      storage in
      try storage.commit([
        .putZone(ZoneRow(id: zoneA, incarnation: 1, changedAt: 5), in: alice),
        .putZone(ZoneRow(id: zoneB, deletion: .purged, incarnation: 2, changedAt: 4), in: alice),
        .putZone(ZoneRow(id: zoneA, incarnation: 1, changedAt: 9), in: bob),
      ])
      return try [(0, 10), (4, 10), (0, 1)].map { after, limit in
        try storage.zoneChanges(in: alice, after: UInt64(after), limit: limit)
          .map(\.id.name).joined(separator: " ")
      }.joined(separator: "|")
    },
    StorageCheck("a zone's row comes back whole, and goes", "true true nil") { storage in
      let row = ZoneRow(
        id: zoneA, deletion: .encryptedDataReset, incarnation: .max, changedAt: 4,
        trimmedThrough: 3, byteCount: 7)
      try storage.commit([.putZone(row, in: alice)])
      let isBack = try storage.zone(zoneA, in: alice) == row
      let isListed = try storage.zones(in: alice) == [row]
      try storage.commit([.removeZone(zoneA, in: alice), .removeZone(zoneB, in: alice)])
      return "\(isBack) \(isListed) \(try storage.zone(zoneA, in: alice).map { "\($0)" } ?? "nil")"
    },
    StorageCheck("a changed record stands once, where it last changed", "b a|a|b [a]") { storage in
      try storage.commit([.putRecord(row("a", 1), in: alice), .putRecord(row("b", 2), in: alice)])
      try storage.commit([.putRecord(row("a", 3), in: alice)])
      let first = try "\(changes(storage))|\(changes(storage, after: 2))"
      try storage.commit([.putRecord(tombstone("a", 4), in: alice)])
      return try "\(first)|\(changes(storage))"
    },
    StorageCheck("pages end at the limit and go on after the last number", "a b|c d|e") {
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
      try storage.commit([
        .putRecord(row("a", 2), in: alice), .putRecord(tombstone("b", 3), in: alice),
        .putRecord(row("c", 1), in: alice), .putRecord(row("d", 4), in: alice),
        .putRecord(row("e", 5, in: zoneB), in: alice),
      ])
      let pages = try [(UInt64(Int64.max), 3), (3, 1), (3, 9)].map { before, limit in
        names(
          try storage.latestRecordChanges(of: zoneA, in: alice, before: before, limit: limit))
      }
      let counts = try [(zoneA, 9), (zoneA, 2), (ZoneID(name: "none"), 9)].map { zone, limit in
        "\(try storage.recordCount(of: zone, in: alice, upTo: limit))"
      }
      return "\(pages.joined(separator: "|"))|\(counts.joined(separator: " "))"
    },
    StorageCheck("tombstones go up to a number, records stay", "b [c]") { storage in
      try storage.commit([
        .putRecord(tombstone("a", 1), in: alice), .putRecord(row("b", 2), in: alice),
        .putRecord(tombstone("c", 3), in: alice),
        .removeTombstones(of: zoneA, in: alice, through: 2),
      ])
      return try changes(storage)
    },
    StorageCheck("links follow the record: set, moved, deleted", "x:parent x:deleteSelf|x:parent||")
    {
      storage in
      try storage.commit([.putRecord(row("x", 1, parent: "p", owner: "p"), in: alice)])
      let first = try links(storage, to: "p")
      try storage.commit([.putRecord(row("x", 2, parent: "q"), in: alice)])
      let second = try links(storage, to: "q")
      let third = try links(storage, to: "p")
      try storage.commit([.putRecord(tombstone("x", 3), in: alice)])
      return try "\(first)|\(second)|\(third)|\(links(storage, to: "q"))"
    },
    StorageCheck("a zone's records go with their links, others stay", "||b|") { storage in
      try storage.commit([
        .putRecord(row("x", 1, parent: "p"), in: alice),
        .putRecord(row("b", 2, in: zoneB), in: alice),
        .removeRecords(of: zoneA, in: alice), .removeRecords(of: zoneA, in: bob),
      ])
      return try "\(changes(storage))|\(links(storage, to: "p"))|"
        + "\(changes(storage, zoneB))|\(changes(storage, zoneA, in: bob))"
    },
    StorageCheck("subscriptions come by name, are replaced and go", "true a b|b") { storage in
      let query = QuerySubscription(
        query: Query(
          recordType: "T",
          filters: [.init(key: "k", comparator: .near, value: .int64(1), distance: 2)],
          sorts: [.init(key: "k", ascending: true, relativeTo: Location(latitude: 1, longitude: 2))]
        ), zone: zoneA, options: [.firesOnce, .firesOnRecordUpdate])
      let a = Subscription(
        id: SubscriptionID("a"), kind: .query(query),
        notificationInfo: .init(
          alertBody: "x", shouldBadge: true, desiredKeys: ["k"], others: ["s": .string("v")]))
      let b = Subscription(id: SubscriptionID("b"), kind: .zone(zoneA, recordType: "T"))
      try storage.commit([
        .putSubscription(b, in: alice),
        .putSubscription(
          Subscription(id: a.id, kind: .database(recordType: nil), notificationInfo: nil),
          in: alice), .putSubscription(a, in: alice), .putSubscription(b, in: bob),
      ])
      let isBack = try storage.subscription(a.id, in: alice) == a
      let names = try storage.subscriptions(in: alice).map(\.id.rawValue).joined(separator: " ")
      try storage.commit([.removeSubscription(a.id, in: alice)])
      return try "\(isBack) \(names)|"
        + storage.subscriptions(in: alice).map(\.id.rawValue).joined(separator: " ")
    },
    StorageCheck("receipts are kept by device, the latest few", "nil 2 3 1") { storage in
      func receipt(_ number: Int, _ device: String) -> StorageChange {
        .putReceipt(
          Receipt(
            key: ReceiptKey(user: UserID("_a"), device: device, requestID: "r\(number)"),
            reply: .currentUser(UserID("\(number)"))), keeping: 2)
      }
      for number in 1...3 { try storage.commit([receipt(number, "phone")]) }
      try storage.commit([receipt(1, "tablet")])
      return try [(1, "phone"), (2, "phone"), (3, "phone"), (1, "tablet")].map { number, device in
        let key = ReceiptKey(user: UserID("_a"), device: device, requestID: "r\(number)")
        guard case .currentUser(let user)? = try storage.receipt(key)?.reply else { return "nil" }
        return user.rawValue
      }.joined(separator: " ")
    },
    StorageCheck("a receipt keeps the digest of its request, or none", "[1, 2] nil") { storage in
      func key(_ name: String) -> ReceiptKey {
        ReceiptKey(user: UserID("_a"), device: "phone", requestID: name)
      }
      let reply = CloudReply.currentUser(UserID("_a"))
      try storage.commit([
        .putReceipt(Receipt(key: key("a"), reply: reply, digest: [1, 2]), keeping: 9),
        .putReceipt(Receipt(key: key("b"), reply: reply), keeping: 9),
      ])
      return try ["a", "b"].map { name in
        try storage.receipt(key(name))?.digest.map { "\($0)" } ?? "nil"
      }.joined(separator: " ")
    },
    StorageCheck("live records of a type come by name, page by page", "a b d|b d|a b|e||b d") {
      storage in
      try storage.commit([
        .putRecord(row("d", 1), in: alice), .putRecord(row("b", 2), in: alice),
        .putRecord(row("a", 3), in: alice), .putRecord(row("c", 4), in: alice),
        .putRecord(tombstone("c", 5), in: alice), .putRecord(row("e", 6, in: zoneB), in: alice),
      ])
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
      try storage.commit([.putRecord(tombstone("a", 7), in: alice)])
      return try (pages + [found()]).joined(separator: "|")
    },
    StorageCheck("a record of another type is found by that one only", "|a|a|") { storage in
      var other = row("a", 2)
      other.type = "U"
      other.record?.type = "U"
      func found(_ type: String) throws -> String {
        names(try storage.records(ofType: type, in: zoneA, of: alice, after: nil, limit: 9))
      }
      try storage.commit([.putRecord(row("a", 1), in: alice), .putRecord(other, in: alice)])
      let first = try "\(found("T"))|\(found("U"))"
      try storage.commit([
        .putRecord(tombstone("a", 3), in: alice), .putRecord(row("a", 4), in: alice),
      ])
      return try "\(first)|\(found("T"))|\(found("U"))"
    },
    StorageCheck("record types and schemas come back whole, by name", "true true A B| nil true") {
      storage in
      func type(_ name: String, _ environment: CloudEnvironment = .development) -> RecordTypeRow {
        RecordTypeRow(
          id: RecordTypeID(container: "c", environment: environment, name: name),
          fields: [
            FieldRow(
              key: "list", shape: FieldShape(kind: .list, element: .string, isEncrypted: true),
              indexes: [.sortable]),
            FieldRow(key: "___recordID", shape: nil, indexes: []),
          ])
      }
      let (a, b) = (type("A"), type("B"))
      let schema = SchemaRow(container: "c", environment: .development, isClosed: true)
      try storage.commit([
        .putRecordType(b), .putRecordType(RecordTypeRow(id: a.id)), .putRecordType(a),
        .putRecordType(type("A", .production)), .putSchema(schema),
      ])
      let isBack = try storage.recordType(a.id) == a
      let isWhole = try storage.schema(of: "c", in: .development) == schema
      let names = try storage.recordTypes(of: "c", in: .development).map(\.id.name)
      let others = try storage.recordTypes(of: "d", in: .development).map(\.id.name)
      let none = try storage.schema(of: "c", in: .production)
      let isIn = try storage.recordTypes(of: "c", in: .production) == [type("A", .production)]
      return "\(isBack) \(isWhole) \(names.joined(separator: " "))|"
        + "\(others.joined()) \(none.map { "\($0)" } ?? "nil") \(isIn)"
    },
    StorageCheck("homes of subscriptions: like this one, with any, by owner", "_a _b") { storage in
      func home(
        _ owner: String, _ scope: DatabaseScope = .public, _ container: String = "c"
      ) -> DatabaseID {
        DatabaseID(
          container: container, environment: .development, scope: scope, owner: UserID(owner))
      }
      let subscription = Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))
      let homes = [
        home("_b"), home("_a"), home("_c"), home("_d", .private), home("_e", .public, "other"),
      ]
      try storage.commit(homes.map { .putSubscription(subscription, in: $0) })
      try storage.commit([.removeSubscription(subscription.id, in: home("_c"))])
      return try storage.subscriptionHomes(of: everyone).map { $0.owner?.rawValue ?? "" }
        .joined(separator: " ")
    },
    StorageCheck("uploads come back, the old ones oldest first, and are replaced", "true 2 1|2|1 3")
    {
      storage in
      let rows = [upload("1", "x", at: 5), upload("2", "y", at: -5), upload("3", "x", at: 9)]
      try storage.commit(rows.map { .putUpload($0, content: [1]) })
      let isBack = try storage.upload("1") == rows[0]
      func old(_ time: Double, _ limit: Int = 9) throws -> String {
        try storage.uploads(
          through: Timestamp(secondsSinceReferenceDate: time), limit: limit
        ).joined(separator: " ")
      }
      let first = try "\(isBack) \(old(5))|\(old(5, 1))"
      try storage.commit([.putUpload(upload("2", "z", at: 10), content: [2])])
      guard try storage.assetContent("y") == nil else { return "the old content stayed" }
      return try "\(first)|\(old(9))"
    },
    StorageCheck("content of any size comes back whole, kept once", "0 1 1048576 1048577 2500000") {
      storage in
      let sizes = [0, 1, 1 << 20, 1 << 20 + 1, 2_500_000]
      let found = try sizes.map { size -> String in
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 >> 3) }
        try storage.commit([
          .putUpload(upload("a\(size)", "c\(size)", at: 0), content: AssetContent(content)),
          .putUpload(upload("b\(size)", "c\(size)", at: 0), content: AssetContent(content)),
          .removeUpload("a\(size)"),
        ])
        return try storage.assetContent("c\(size)") == content ? "\(size)" : "another"
      }
      return found.joined(separator: " ")
    },
    StorageCheck(
      "any range of a content comes back, clamped to it", "true true true true true true true true"
    ) {
      storage in
      let part = AssetContent.partBytes
      let content = (0..<2 * part + 5).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 9) }
      try storage.commit([.putUpload(upload("a", "c", at: 0), content: AssetContent(content))])
      let ranges = [
        0..<1, 0..<0, 5..<part, part - 3..<part + 3, part..<2 * part, 7..<2 * part + 1,
        2 * part..<3 * part, 5 * part..<6 * part,
      ]
      return try ranges.map { range in
        let expected = Array(content[range.clamped(to: content.indices)])
        return "\(try storage.assetContent("c", in: range) == expected)"
      }.joined(separator: " ")
    },
    StorageCheck("a range of a content that does not exist is nothing", "nil nil") { storage in
      try [0..<1, 0..<0].map { range in
        try storage.assetContent("none", in: range).map { "\($0)" } ?? "nil"
      }.joined(separator: " ")
    },
    StorageCheck(
      "content goes with the last that names it, whatever takes that away", "kkg kg kg kkg"
    ) {
      storage in
      func state(_ checksum: String) throws -> String {
        try storage.assetContent(checksum) == nil ? "g" : "k"
      }
      func put(_ checksum: String) throws {
        try storage.commit([
          .putUpload(upload("r", checksum, at: 0), content: [7]),
          .putRecord(holder("h1", 1, [checksum]), in: alice),
          .putRecord(holder("h2", 2, [checksum, "other"]), in: alice), .removeUpload("r"),
        ])
      }
      try put("deleted")
      var found = try state("deleted")
      try storage.commit([.putRecord(tombstone("h1", 3), in: alice)])
      found += try state("deleted")
      try storage.commit([.putRecord(tombstone("h2", 4), in: alice)])
      found += try state("deleted") + " "
      try put("replaced")
      try storage.commit([.putRecord(holder("h1", 5, ["x"]), in: alice)])
      found += try state("replaced")
      try storage.commit([.putRecord(holder("h2", 6, ["x"]), in: alice)])
      found += try state("replaced") + " "
      try put("zone")
      found += try state("zone")
      try storage.commit([.removeRecords(of: zoneA, in: alice)])
      found += try state("zone") + " "
      try put("again")
      try storage.commit([.putRecord(holder("h1", 7, ["again"]), in: alice)])
      try storage.commit([.putRecord(tombstone("h2", 8), in: alice)])
      found += try state("again")
      do {
        try storage.transaction {
          try storage.commit([.removeRecords(of: zoneA, in: alice)])
          throw Stop()
        }
      } catch is Stop {}
      found += try state("again")
      try storage.commit([.removeRecords(of: zoneA, in: alice)])
      return try found + state("again")
    },
    StorageCheck("a transaction sees its own commits, and undoes them when it throws", "b|a|1") {
      storage in
      try storage.commit([
        .putDatabase(DatabaseRow(id: alice, incarnation: 1, sequence: 1)),
        .putRecord(row("a", 1), in: alice),
      ])
      var inside = ""
      do {
        try storage.transaction {
          try storage.commit([
            .putDatabase(DatabaseRow(id: alice, incarnation: 1, sequence: 2)),
            .removeRecords(of: zoneA, in: alice), .putRecord(row("b", 2), in: alice),
            .putZone(ZoneRow(id: zoneB, incarnation: 1, changedAt: 2), in: bob),
          ])
          inside = try changes(storage)
          throw Stop()
        }
      } catch is Stop {}
      guard try storage.zones(in: bob).isEmpty else { return "the new database stayed" }
      return try "\(inside)|\(changes(storage))|\(storage.database(alice)?.sequence ?? 0)"
    },
    StorageCheck("what is new after a rollback gets a place of its own", "n|m") { storage in
      do {
        try storage.transaction {
          try storage.commit([.putRecord(row("x", 1, in: zoneB), in: bob)])
          throw Stop()
        }
      } catch is Stop {}
      try storage.commit([.putRecord(row("m", 1), in: alice)])
      try storage.commit([.putRecord(row("n", 1, in: zoneB), in: bob)])
      return try "\(changes(storage, zoneB, in: bob))|\(changes(storage))"
    },
    StorageCheck("a transaction hands on its value, and one within it is part of it", "5 a") {
      storage in
      let value = try storage.transaction {
        try storage.transaction { try storage.commit([.putRecord(row("a", 1), in: alice)]) }
        return 5
      }
      return try "\(value) \(changes(storage))"
    },
  ]
}
