#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import Records

  /// The rows that a transaction has read, as they are after its changes.
  ///
  /// A value that is `nil` says that there is no such row.
  struct PostgreSQLRowCache {
    var settings: (identity: UInt64, secret: StorageSecret)?
    /// By the bytes of the names, as the database compares them.
    var accountsByName: [[UInt8]: AccountRow?] = [:]
    var accountsByUser: [UserID: AccountRow?] = [:]
    var databases: [DatabaseID: DatabaseRow?] = [:]
    var zones: [InDatabase<ZoneID>: ZoneRow?] = [:]
    var records = PostgreSQLRecordCache()
    var links: [InDatabase<RecordID>: [RecordLink]] = [:]
    var subscriptions: [DatabaseID: [Subscription]] = [:]
    var homes: [DatabaseID: [DatabaseID]] = [:]
    var receipts: [ReceiptKey: Receipt?] = [:]
    var recordTypes: [RecordTypeID: RecordTypeRow?] = [:]
    var schemas: [RecordTypeID: SchemaRow?] = [:]
    var uploads: [String: UploadRow?] = [:]
    var recordPages: [ReadPlan.Page: [RecordRow]] = [:]
    var zonePages: [ReadPlan.Page: [ZoneRow]] = [:]
    var typePages: [ReadPlan.TypePage: [RecordRow]] = [:]

    /// The rows of a page, if it is a part of one that was read.
    func recordRows(of page: ReadPlan.Page) -> [RecordRow]? {
      for (known, rows) in recordPages
      where known.zone == page.zone && known.database == page.database
        && known.sequence <= page.sequence
      {
        let rest = rows.drop { $0.changedAt <= page.sequence }
        if rest.count >= page.limit || rows.count < known.limit {
          return Array(rest.prefix(page.limit))
        }
      }
      return nil
    }

    /// Takes over changes of the transaction, or forgets what they change.
    mutating func apply(_ changes: [StorageChange]) {
      recordPages = [:]
      zonePages = [:]
      typePages = [:]
      for change in changes { apply(change) }
    }

    private mutating func apply(_ change: StorageChange) {
      switch change {
      case .putAccount(let row):
        accountsByName[Array(row.name.utf8)] = row
        accountsByUser[row.user] = row
      case .putDatabase(let row): databases[row.id] = row
      case .putZone(let row, let database): zones[InDatabase(row.id, database)] = row
      case .removeZone(let zone, let database): zones[InDatabase(zone, database)] = .some(nil)
      case .putRecord(let row, let database):
        records.put(row, in: database)
        links = [:]
      case .removeRecords, .removeTombstones:
        records = PostgreSQLRecordCache()
        links = [:]
      case .putSubscription(_, let database), .removeSubscription(_, let database):
        subscriptions[database] = nil
        homes = [:]
      case .putReceipt(let receipt, _): receipts[receipt.key] = receipt
      case .removeReceipts(let user): receipts = receipts.filter { $0.key.user != user }
      case .putRecordType(let row): recordTypes[row.id] = row
      case .putSchema(let row):
        schemas[row.key] = row
      case .putUpload(let row, _): uploads[row.receipt] = row
      case .removeUpload(let receipt): uploads[receipt] = .some(nil)
      case .removeEverything: self = PostgreSQLRowCache()
      }
    }
  }
#endif
