import CloudProtocol
import Records

/// The rows of one database.
struct MemoryDatabase {
  var row: DatabaseRow?
  var zones: [ZoneID: MemoryZone] = [:]
  var links: [RecordID: Set<RecordLink>] = [:]
  var subscriptions: [SubscriptionID: Subscription] = [:]
}

/// The rows of one zone; records may exist without the zone's row and vice versa.
struct MemoryZone {
  var row: ZoneRow?
  var records = MemoryRecords()
}

extension MemoryStorage.State {
  /// Applies changes in place; the records of one zone are mostly together.
  mutating func apply(_ changes: [StorageChange]) {
    var index = 0
    while index < changes.count {
      if case .putRecord(let row, let database) = changes[index] {
        index = databases[database, default: MemoryDatabase()].put(
          changes, from: index, in: database, row.id.zone, &files)
      } else {
        apply(changes[index])
        index += 1
      }
    }
  }

  /// Applies one change in place.
  private mutating func apply(_ change: StorageChange) {
    switch change {
    case .putAccount(let row):
      if let old = accounts.updateValue(row, forKey: row.user) {
        usersByName[Array(old.name.utf8)] = nil
      }
      usersByName[Array(row.name.utf8)] = row.user
    case .putDatabase(let row): databases[row.id, default: MemoryDatabase()].row = row
    case .putZone(let row, let database):
      databases[database, default: MemoryDatabase()].zones[row.id, default: MemoryZone()].row = row
    case .removeZone(let zone, let database):
      databases[database]?.remove(zone)
    case .putRecord: break  // See `apply(_:)`.
    case .removeRecords(let zone, let database):
      for record in databases[database]?.zones[zone]?.records.live ?? [] {
        files.replaceFiles(of: record, with: nil)
      }
      databases[database]?.removeRecords(of: zone)
    case .removeTombstones(let zone, let database, let sequence):
      databases[database]?.zones[zone]?.records.removeTombstones(through: sequence)
    case .putSubscription(let subscription, let database):
      databases[database, default: MemoryDatabase()].subscriptions[subscription.id] = subscription
    case .removeSubscription(let id, let database):
      databases[database]?.subscriptions[id] = nil
    case .putReceipt(let receipt, let keeping):
      receipts[receipt.key.user, default: MemoryReceipts()].put(receipt, keeping: keeping)
    case .removeReceipts(let user): receipts[user] = nil
    case .putRecordType(let row): recordTypes[row.id] = row
    case .putSchema(let row): schemas[row.key] = row
    case .putUpload(let row, let content): files.put(row, content)
    case .removeUpload(let receipt): files.removeUpload(receipt)
    case .removeEverything(let identity, let secret):
      self = MemoryStorage.State(identity: identity, secret: secret)
    }
  }
}

extension MemoryDatabase {
  /// Stores the records of a zone that come next in `changes` of the database `id`; returns the
  /// index of the first other change.
  mutating func put(
    _ changes: [StorageChange], from start: Int, in id: DatabaseID, _ zone: ZoneID,
    _ files: inout MemoryFiles
  ) -> Int {
    var records = MemoryRecords()
    swap(&records, &zones[zone, default: MemoryZone()].records)
    defer { zones[zone]?.records = records }
    var index = start
    while index < changes.count, case .putRecord(let row, id) = changes[index],
      row.id.zone == zone
    {
      let old = records.put(row)?.record
      if let old { unlink(old) }
      for link in row.record?.links ?? [] {
        links[link.target, default: []].insert(RecordLink(holder: row.id, kind: link.kind))
      }
      files.replaceFiles(of: old, with: row.record)
      index += 1
    }
    return index
  }

  mutating func remove(_ zone: ZoneID) {
    zones[zone]?.row = nil
    if zones[zone]?.records.isEmpty == true { zones[zone] = nil }
  }

  mutating func removeRecords(of zone: ZoneID) {
    guard let records = zones[zone]?.records else { return }
    zones[zone]?.records = MemoryRecords()
    for record in records.live { unlink(record) }
  }

  private mutating func unlink(_ record: Record) {
    for link in record.links {
      links[link.target]?.remove(RecordLink(holder: record.id, kind: link.kind))
      if links[link.target]?.isEmpty == true { links[link.target] = nil }
    }
  }
}
