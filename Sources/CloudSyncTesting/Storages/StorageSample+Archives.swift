import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// Checks of the calls that enumerate everything, for archives and inspection.
  static let archiveChecks: [StorageCheck] = [
    StorageCheck(
      "an archive reads every record and tombstone by the bytes of the name", "B [_] a b"
    ) { storage in
      try storage.put(
        row("b", 1), row("a", 2), row("B", 3), tombstone("_", 4), row("c", 5, in: zoneB))
      var found: [RecordRow] = []
      try storage.forEachRecord(of: zoneA, in: alice) { found.append($0) }
      return names(found)
    },
    StorageCheck("an error ends the reading of all records", "1 a b c") { storage in
      try storage.commit(["a", "b", "c"].map { .putRecord(row($0, 1), in: alice) })
      var count = 0
      do {
        try storage.forEachRecord(of: zoneA, in: alice) { _ in
          count += 1
          throw Stop()
        }
      } catch is Stop {}
      var found: [RecordRow] = []
      try storage.forEachRecord(of: zoneA, in: alice) { found.append($0) }
      return "\(count) \(names(found))"
    },
    StorageCheck(
      "an archive finds all databases, zones, types, schemas, files and receipts",
      "true true A B true|T c/production|x y|1 2 3"
    ) { storage in
      func receipt(_ number: Int) -> StorageChange {
        let key = ReceiptKey(user: UserID("_a"), device: "phone", requestID: "\(number)")
        return .putReceipt(Receipt(key: key, reply: .currentUser(key.user)), keeping: 9)
      }
      let type = RecordTypeID(container: "c", environment: .development, name: "T")
      try storage.commit(
        [
          .putRecord(row("a", 1), in: alice), .putRecord(row("b", 2, in: zoneB), in: alice),
          .putDatabase(DatabaseRow(id: bob, incarnation: 1)),
          .putZone(ZoneRow(id: zoneA, incarnation: 1, changedAt: 1), in: everyone),
          .putRecordType(RecordTypeRow(id: type)),
          .putSchema(SchemaRow(container: "c", environment: .production, isClosed: true)),
          .putUpload(upload("1", "x", at: 0), content: [1]),
          .putUpload(upload("2", "y", at: 0), content: [2]),
        ] + (1...3).map(receipt))
      let databases = Set(try storage.databaseNames())
      let zones = try storage.zoneNames(in: alice).map(\.name).sorted()
      let types = try storage.recordTypes().map(\.id.name)
      let schemas = try storage.schemas().map { "\($0.container)/\($0.environment.rawValue)" }
      let files = try storage.assetChecksums().sorted()
      let receipts = try storage.receiptKeys().map(\.requestID)
      return "\(databases.isSuperset(of: [alice, everyone])) \(databases.contains(bob)) "
        + zones.joined(separator: " ") + " \(try storage.zoneNames(in: everyone) == [zoneA])|"
        + (types + schemas).joined(separator: " ") + "|" + files.joined(separator: " ") + "|"
        + receipts.joined(separator: " ")
    },
    StorageCheck("a receipt that is put again is the latest", "2 1") { storage in
      for number in [1, 2, 1] {
        let key = ReceiptKey(user: UserID("_a"), device: "phone", requestID: "\(number)")
        try storage.commit([
          .putReceipt(Receipt(key: key, reply: .currentUser(key.user)), keeping: 9)
        ])
      }
      return try storage.receiptKeys().map(\.requestID).joined(separator: " ")
    },
    StorageCheck("the databases of accounts come with the public ones", "_alice|_alice _bob|") {
      storage in
      try storage.commit([
        .putAccount(AccountRow(name: "ann", user: UserID("_alice"))),
        .putAccount(AccountRow(name: "ben", user: UserID("_bob"))),
        .putDatabase(DatabaseRow(id: alice, incarnation: 1)),
        .putDatabase(DatabaseRow(id: bob, incarnation: 1)),
        .putDatabase(DatabaseRow(id: everyone, incarnation: 1)),
      ])
      return try [["ann"], ["ben", "ann"], ["none"]].map { names in
        let rows = try storage.databases(ofAccounts: names)
        guard rows.contains(where: { $0.id == everyone }) else { return "no public database" }
        return rows.compactMap { $0.id.owner?.rawValue }.sorted().joined(separator: " ")
      }.joined(separator: "|")
    },
    StorageCheck("accounts are found by the bytes of their names", "_b _a true") { storage in
      // Swift takes the composed and the decomposed letter for the same.
      let names = ["\u{E9}", "e\u{301}"]
      try storage.commit([.putAccount(AccountRow(name: names[0], user: UserID("_a")))])
      let isAlone = try storage.account(named: names[1]) == nil
      try storage.commit([.putAccount(AccountRow(name: names[1], user: UserID("_b")))])
      let users = try names.reversed().map { try storage.account(named: $0)?.user.rawValue ?? "-" }
      return "\(users.joined(separator: " ")) \(isAlone)"
    },
    StorageCheck("removing everything leaves no row, and a new identity and key", "true true true")
    {
      storage in
      let names = try fill(storage)
      let key = StorageSecret(first: 3, second: 4)
      try storage.commit([.removeEverything(identity: 77, secret: key)])
      let empty = try rows(of: MemoryStorage(identity: 77, secret: key), names: names)
      return try "\(storage.identity() == 77) \(storage.secret() == key) "
        + "\(rows(of: storage, names: names) == empty)"
    },
  ]
}
