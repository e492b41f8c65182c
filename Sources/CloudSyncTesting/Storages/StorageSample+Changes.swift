package import CloudMachine
import CloudProtocol
import Records

extension StorageSample {
  /// A change of any kind.
  package static func randomChange(
    _ random: inout StorageRandom, names: [String], _ sequence: inout UInt64
  ) -> StorageChange {
    let database = random.pick([alice, bob, everyone])
    let zone = random.pick([zoneA, zoneB])
    let name = random.pick(names)
    sequence += 1
    switch random.below(16) {
    case 0:
      let user = random.pick(["_alice", "_bob"])
      return .putAccount(AccountRow(name: user, user: UserID(user), quota: Int(sequence)))
    case 1: return .putDatabase(DatabaseRow(id: database, incarnation: 1, sequence: sequence))
    case 2, 3:
      return .putZone(
        ZoneRow(
          id: zone, deletion: random.pick([nil, .deleted]), incarnation: sequence,
          changedAt: sequence), in: database)
    case 4: return .removeZone(zone, in: database)
    case 5: return .removeRecords(of: zone, in: database)
    case 6: return .removeTombstones(of: zone, in: database, through: random.below(sequence + 1))
    case 7: return .putRecord(tombstone(name, sequence, in: zone), in: database)
    case 8:
      let subscription = Subscription(
        id: SubscriptionID(name), kind: .zone(zone, recordType: random.pick([nil, "T"])))
      return random.below(3) == 0
        ? .removeSubscription(subscription.id, in: database)
        : .putSubscription(subscription, in: database)
    case 9:
      let key = ReceiptKey(
        user: UserID(random.pick(["_alice", "_bob"])), device: random.pick(["phone", "tablet"]),
        requestID: name)
      if random.below(6) == 0 { return .removeReceipts(of: key.user) }
      return .putReceipt(Receipt(key: key, reply: .currentUser(key.user)), keeping: 3)
    case 10:
      return random.below(2) == 0
        ? .putUpload(
          upload(name, random.pick(names), at: Double(sequence)), content: [UInt8(random.below(9))])
        : .removeUpload(name)
    case 11:
      return .putRecord(
        holder(name, sequence, (0..<random.below(3)).map { _ in random.pick(names) }), in: database)
    case 12:
      let environment = random.pick([CloudEnvironment.development, .production])
      if random.below(3) == 0 {
        return .putSchema(
          SchemaRow(container: "c", environment: environment, isClosed: random.below(2) == 0))
      }
      return .putRecordType(
        RecordTypeRow(
          id: RecordTypeID(container: "c", environment: environment, name: name),
          fields: [FieldRow(key: random.pick(names), shape: FieldShape(kind: .int64))]))
    default:
      return .putRecord(
        row(
          name, sequence, in: zone, parent: random.pick([nil] + names.map { $0 }),
          owner: random.pick([nil] + names.map { $0 })), in: database)
    }
  }

  /// Gives all storages the same few changes as one transaction, which is sometimes undone.
  package static func change(
    _ storages: [any CloudStorage], _ random: inout StorageRandom, names: [String],
    _ sequence: inout UInt64
  ) throws {
    let changes = (0..<random.below(6)).map { _ in
      randomChange(&random, names: names, &sequence)
    }
    let fails = random.below(5) == 0
    for storage in storages {
      do {
        try repeating(storage) {
          try storage.commit(changes)
          if fails { throw Stop() }
        }
      } catch is Stop {}
    }
  }

  /// The error of a transaction that is undone on purpose.
  struct Stop: Error {}
}

/// A small generator with which a seed gives the same changes everywhere.
package struct StorageRandom {
  private var state: UInt64

  /// Creates a generator.
  package init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  /// A number from 0 up to `bound`, that one excluded.
  package mutating func below(_ bound: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % bound
  }

  /// One of the elements.
  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int(below(UInt64(elements.count)))]
  }
}
