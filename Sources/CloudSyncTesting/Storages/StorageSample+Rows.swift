import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// Checks of accounts, databases, zones, subscriptions, receipts and schemas.
  static let rowChecks: [StorageCheck] = [
    StorageCheck("an empty storage knows nothing", "[] nil nil [] nil []") { storage in
      let id = RecordID(name: "a", zone: zoneA)
      return "\(try storage.accounts()) \(try storage.database(alice).map { "\($0)" } ?? "nil") "
        + "\(try storage.zone(zoneA, in: alice).map { "\($0)" } ?? "nil") "
        + "\(try storage.zones(in: alice)) "
        + "\(try storage.record(id, in: alice).map { "\($0)" } ?? "nil") "
        + "\(try storage.links(to: id, in: alice))"
    },
    StorageCheck("a new storage has the identity that it was opened with", "9223372036854775817") {
      try $0.identity()
    },
    StorageCheck("the secret stays the same and differs from the identity", "true true") {
      storage in
      let secret = try storage.secret()
      let identity = try storage.identity()
      return "\(try storage.secret() == secret) "
        + "\(secret.first != identity && secret.second != identity)"
    },
    StorageCheck(
      "databases: each with a row, in order, with its latest row",
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
    StorageCheck("the data of shares and people in rows come back", "true true true true") {
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
    StorageCheck("databases of two environments share nothing", "1 2 nil") { storage in
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
    StorageCheck("a zone's row comes back whole, and can be removed", "true true nil") { storage in
      let row = ZoneRow(
        id: zoneA, deletion: .encryptedDataReset, incarnation: .max, changedAt: 4,
        trimmedThrough: 3, byteCount: 7)
      try storage.commit([.putZone(row, in: alice)])
      let isBack = try storage.zone(zoneA, in: alice) == row
      let isListed = try storage.zones(in: alice) == [row]
      try storage.commit([.removeZone(zoneA, in: alice), .removeZone(zoneB, in: alice)])
      return "\(isBack) \(isListed) \(try storage.zone(zoneA, in: alice).map { "\($0)" } ?? "nil")"
    },
    StorageCheck("subscriptions come by name, are replaced and removed", "true a b|b") { storage in
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
    StorageCheck("the latest receipts of each device are kept", "nil 2 3 1") { storage in
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
    StorageCheck("receipts of devices that stay away are removed", "true true true") { storage in
      func key(_ user: String, _ number: Int) -> ReceiptKey {
        ReceiptKey(user: UserID(user), device: "device \(number)", requestID: "r")
      }
      func put(_ key: ReceiptKey) throws {
        let reply = CloudReply.currentUser(key.user)
        try storage.commit([.putReceipt(Receipt(key: key, reply: reply), keeping: 1)])
      }
      try put(key("_b", 0))
      for number in 1...200 { try put(key("_a", number)) }
      let most = Receipt.mostOfUser(keeping: 1)
      let count = try storage.receiptKeys().filter { $0.user == UserID("_a") }.count
      let latest = try (201 - most...200).allSatisfy { try storage.receipt(key("_a", $0)) != nil }
      let isOtherKept = try storage.receipt(key("_b", 0)) != nil
      return "\((most...most + 63).contains(count)) \(latest) \(isOtherKept)"
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
    StorageCheck("the homes of subscriptions come by owner", "_a _b") { storage in
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
  ]
}
