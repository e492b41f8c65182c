import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// Runs a transaction as the server does: again, as long as it ends with a conflict.
  static func repeating<Value>(
    _ storage: any CloudStorage, _ body: () throws -> Value
  ) throws -> Value {
    for _ in 1..<10 {
      do { return try storage.transaction(body) } catch is TransactionConflict {}
    }
    return try storage.transaction(body)
  }

  /// Checks of transactions.
  static let transactionChecks: [StorageCheck] = [
    StorageCheck("a transaction reads its own commits, and undoes them when it throws", "b|a|1") {
      storage in
      try storage.commit([
        .putDatabase(DatabaseRow(id: alice, incarnation: 1, sequence: 1)),
        .putRecord(row("a", 1), in: alice),
      ])
      var inside = ""
      do {
        try repeating(storage) {
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
    StorageCheck(
      "a row that is new after a rollback is not confused with one that was undone", "n|m"
    ) { storage in
      do {
        try repeating(storage) {
          try storage.put(row("x", 1, in: zoneB), in: bob)
          throw Stop()
        }
      } catch is Stop {}
      try storage.put(row("m", 1))
      try storage.put(row("n", 1, in: zoneB), in: bob)
      return try "\(changes(storage, zoneB, in: bob))|\(changes(storage))"
    },
    StorageCheck(
      "a transaction returns the value of its body, and a nested one is part of it", "5 a"
    ) {
      storage in
      let value = try repeating(storage) {
        try storage.transaction { try storage.put(row("a", 1)) }
        return 5
      }
      return try "\(value) \(changes(storage))"
    },
  ]
}
