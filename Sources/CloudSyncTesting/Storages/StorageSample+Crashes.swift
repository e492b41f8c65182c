import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// Stores rows of every kind, and returns names with which they are read.
  static func fill(_ storage: any CloudStorage) throws -> [String] {
    let names = (1...6).map { "n\($0)" }
    var random = StorageRandom(seed: 3)
    var sequence: UInt64 = 0
    for _ in 0..<30 {
      try storage.commit((0..<4).map { _ in randomChange(&random, names: names, &sequence) })
    }
    return names
  }

  /// The changes of a transaction with several commits, which replaces, adds and removes rows of
  /// every kind.
  private static let steps: [[StorageChange]] = [
    [
      .putDatabase(DatabaseRow(id: alice, incarnation: 1, sequence: 900)),
      .putRecord(row("n1", 901, parent: "n2", owner: "n3"), in: alice),
      .putRecord(tombstone("n2", 902), in: alice),
    ],
    [
      .putUpload(upload("n9", "n9", at: 1), content: AssetContent([9])),
      .putRecord(holder("n3", 903, ["n9"]), in: alice),
    ],
    [
      .removeRecords(of: zoneB, in: bob), .removeZone(zoneA, in: everyone),
      .putZone(ZoneRow(id: zoneB, incarnation: 9, changedAt: 904), in: bob),
    ],
    [
      .putAccount(AccountRow(name: "_alice", user: UserID("_alice"), quota: 905)),
      .removeUpload("n1"),
      .putReceipt(
        Receipt(
          key: ReceiptKey(user: UserID("_bob"), device: "phone", requestID: "n9"),
          reply: .currentUser(UserID("_bob"))), keeping: 2),
    ],
    [
      .removeTombstones(of: zoneA, in: alice, through: 1_000),
      .putSchema(SchemaRow(container: "c", environment: .production, isClosed: true)),
    ],
    [.removeEverything(identity: 5, secret: StorageSecret(first: 5, second: 6))],
  ]

  /// Checks of transactions that end in the middle, and of data that are opened again.
  static let crashChecks: [StorageCheck] = [
    StorageCheck("a transaction that ends at any step changes nothing", "0 1 2 3 4 5") { storage in
      let names = try fill(storage) + ["n9"]
      let before = try contents(of: storage, names)
      return try steps.indices.filter { last in
        for reads in [false, true] {
          do {
            try repeating(storage) {
              for changes in steps[...last] {
                try storage.commit(changes)
                if reads { _ = try rows(of: storage, names: names) }
              }
              throw Stop()
            }
          } catch is Stop {}
          guard try contents(of: storage, names) == before else { return false }
        }
        return true
      }.map { "\($0)" }.joined(separator: " ")
    },
    StorageCheck("a transaction of several commits is stored like those of the rules", "true") {
      storage in
      let memory = MemoryStorage(identity: 1, secret: try storage.secret())
      let names = try fill(storage) + ["n9"]
      _ = try fill(memory)
      for each in [storage, memory] {
        try repeating(each) { for changes in steps.dropLast() { try each.commit(changes) } }
      }
      return try "\(rows(of: storage, names: names) == rows(of: memory, names: names))"
    },
    StorageCheck("when a nested transaction throws, the outer one is undone and throws", "true a") {
      storage in
      try storage.put(row("a", 1))
      var hasThrown = false
      do {
        try repeating(storage) {
          try storage.put(row("b", 2))
          try? storage.transaction {
            try storage.put(row("c", 3))
            throw Stop()
          }
          try storage.put(row("d", 4))
        }
      } catch { hasThrown = true }
      return try "\(hasThrown) \(changes(storage))"
    },
    StorageCheck("a commit whose file can't be read changes nothing", "true") { storage in
      let names = try fill(storage) + ["n9"]
      let before = try contents(of: storage, names)
      let content = AssetContent(count: 3 << 20) { (range) throws(CloudError) in
        guard range.upperBound <= AssetContent.partBytes else {
          throw CloudError(.assetNotAvailable, "it was removed")
        }
        return [UInt8](repeating: 1, count: range.count)
      }
      var hasThrown = false
      do {
        try storage.commit([
          .putRecord(row("n1", 901), in: alice),
          .putUpload(upload("n9", "n9", at: 1), content: content),
        ])
      } catch { hasThrown = true }
      return try "\(hasThrown && contents(of: storage, names) == before)"
    },
    StorageCheck("a transaction of 6,000 records is undone as a whole, or stored", "0 6000") {
      storage in
      let all: [StorageChange] = (1...6_000).map {
        .putRecord(row("n\($0)", UInt64($0)), in: alice)
      }
      var counts: [Int] = []
      for fails in [true, false] {
        do {
          try repeating(storage) {
            for start in stride(from: 0, to: all.count, by: 400) {
              try storage.commit(Array(all[start..<min(all.count, start + 400)]))
            }
            if fails { throw Stop() }
          }
        } catch is Stop {}
        counts.append(try storage.recordCount(of: zoneA, in: alice, upTo: 10_000))
      }
      return counts.map { "\($0)" }.joined(separator: " ")
    },
    StorageCheck("rows that were foreseen are those that are read, also after changes", "true true")
    { storage in
      let names = try fill(storage) + ["n9"]
      func read() throws -> [String] {
        try repeating(storage) {
          try storage.foresee { plan(names) }
          return try rows(of: storage, names: names)
        }
      }
      let isSame = try read() == rows(of: storage, names: names)
      var inside: [String] = []
      try repeating(storage) {
        try storage.foresee { plan(names) }
        for changes in steps.dropLast() { try storage.commit(changes) }
        try storage.foresee { plan(names) }
        inside = try rows(of: storage, names: names)
      }
      return try "\(isSame) \(inside == rows(of: storage, names: names))"
    },
    StorageCheck("everything is there when the data are opened again", .reopening, "true true") {
      trial in
      let names = try fill(trial.storage) + ["n9"]
      let before = try contents(of: trial.storage, names)
      try trial.reopen()
      let isBack = try contents(of: trial.storage, names) == before
      do {
        try repeating(trial.storage) {
          for changes in steps { try trial.storage.commit(changes) }
          throw Stop()
        }
      } catch is Stop {}
      try trial.reopen()
      return "\(isBack) \(try contents(of: trial.storage, names) == before)"
    },
  ]

  /// The rows, the identity and the secret.
  private static func contents(
    of storage: any CloudStorage, _ names: [String]
  ) throws -> [String] {
    try rows(of: storage, names: names) + ["\(storage.identity()) \(storage.secret())"]
  }

  /// A plan that names rows of every kind, some of which do not exist.
  private static func plan(_ names: [String]) -> ReadPlan {
    var plan = ReadPlan()
    plan.databases = [alice, bob, everyone].sorted()
    plan.includesIdentity = true
    plan.accounts = ["_alice", "none"]
    plan.users = [UserID("_bob"), UserID("none")]
    plan.zones = [alice: [zoneA, ZoneID(name: "none")], bob: [zoneB]]
    let records = ReadPlan.ZoneRecords(zone: zoneA, database: alice, names: names + ["none"])
    plan.records = [records, ReadPlan.ZoneRecords(zone: zoneB, database: bob, names: names)]
    plan.links = [records]
    plan.page = ReadPlan.Page(zone: zoneA, database: alice, after: 7, limit: 2)
    plan.recordTypes = names.map {
      RecordTypeID(container: "c", environment: .development, name: $0)
    }
    plan.subscriptions = [alice, everyone]
    plan.subscriptionHomes = everyone
    plan.receipt = ReceiptKey(user: UserID("_alice"), device: "phone", requestID: names[0])
    plan.uploads = names
    return plan
  }
}
