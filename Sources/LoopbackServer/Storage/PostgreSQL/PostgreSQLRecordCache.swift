#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import Records

  /// The records that a transaction has read or changed, by zone.
  struct PostgreSQLRecordCache {
    /// The row of a record in the database, with the changes that were sent.
    enum Stored {
      case unknown
      /// No row, so that one can be inserted without a search.
      case absent
      /// Assumed to have no row; only an insertion shows whether that is true.
      case assumedAbsent
      case present(hasLinks: Bool, hasFiles: Bool)

      init(_ row: RecordRow?) {
        guard let row else {
          self = .absent
          return
        }
        self = .present(
          hasLinks: row.record?.links.isEmpty == false,
          hasFiles: row.record?.assetChecksums.isEmpty == false)
      }

      /// Whether a row is inserted.
      var isAbsent: Bool {
        switch self {
        case .absent, .assumedAbsent: true
        case .unknown, .present: false
        }
      }

      /// Whether links from the record may be stored.
      var mayLink: Bool {
        switch self {
        case .unknown: true
        case .absent, .assumedAbsent: false
        case .present(let hasLinks, _): hasLinks
        }
      }

      /// Whether uses of files by the record may be stored.
      var mayHoldFiles: Bool {
        switch self {
        case .unknown: true
        case .absent, .assumedAbsent: false
        case .present(_, let hasFiles): hasFiles
        }
      }
    }

    private struct Entry {
      var row: RecordRow?
      var stored: Stored
    }

    private struct Zone {
      let id: ZoneID
      let database: DatabaseID
      var entries: [String: Entry] = [:]
      /// The number of records that were assumed to be absent and have not been inserted since.
      var assumed = 0
      /// Whether the transaction has read one of them.
      var hasReadAssumed = false
    }

    private var zones: [Zone] = []
    private var numbers: [InDatabase<ZoneID>: Int] = [:]
    /// The zone that was used last, which most calls use again.
    private var latest = 0

    private func number(of zone: ZoneID, in database: DatabaseID) -> Int? {
      if zones.indices.contains(latest), zones[latest].id == zone,
        zones[latest].database == database
      {
        return latest
      }
      return numbers[InDatabase(zone, database)]
    }

    private mutating func makeNumber(of zone: ZoneID, in database: DatabaseID) -> Int {
      latest = number(of: zone, in: database) ?? zones.count
      if latest == zones.count {
        numbers[InDatabase(zone, database)] = latest
        zones.append(Zone(id: zone, database: database))
      }
      return latest
    }

    /// The row of a record as the transaction sees it, or its absence; `nil` if it is not known.
    mutating func row(_ name: String, of zone: ZoneID, in database: DatabaseID) -> RecordRow?? {
      guard let number = number(of: zone, in: database),
        let entry = zones[number].entries[name]
      else { return nil }
      if case .assumedAbsent = entry.stored { zones[number].hasReadAssumed = true }
      return .some(entry.row)
    }

    /// Assumes that records of which nothing is known are absent, as the request expects.
    mutating func assumeAbsent(_ group: ReadPlan.ZoneRecords) {
      let number = makeNumber(of: group.zone, in: group.database)
      let known = zones[number].entries.count
      zones[number].entries.reserveCapacity(known + group.names.count)
      let entry = Entry(row: nil, stored: .assumedAbsent)
      zones[number].entries.merge(group.names.lazy.map { ($0, entry) }) { known, _ in known }
      zones[number].assumed += zones[number].entries.count - known
    }

    /// Whether the transaction has read a record that was assumed to be absent, and has not
    /// inserted all such records of the zone, so that its decisions may be wrong.
    var dependsOnAssumption: Bool { zones.contains { $0.hasReadAssumed && $0.assumed > 0 } }

    /// Those of the names whose records are not known.
    func unknown(_ group: ReadPlan.ZoneRecords) -> [String] {
      guard let number = number(of: group.zone, in: group.database) else { return group.names }
      let entries = zones[number].entries
      return group.names.filter { entries[$0] == nil }
    }

    /// Notes what was read under names; the names without a row have no record.
    mutating func note(
      _ rows: [RecordRow], of names: [String], in zone: ZoneID, of database: DatabaseID
    ) {
      let number = makeNumber(of: zone, in: database)
      zones[number].entries.reserveCapacity(zones[number].entries.count + names.count)
      if rows.count < names.count {
        for name in names { zones[number].entries[name] = Entry(row: nil, stored: .absent) }
      }
      for row in rows {
        zones[number].entries[row.id.name] = Entry(row: row, stored: Stored(row))
      }
    }

    /// Notes a change that is not sent yet.
    mutating func put(_ row: RecordRow, in database: DatabaseID) {
      let number = makeNumber(of: row.id.zone, in: database)
      zones[number].entries[row.id.name, default: Entry(row: nil, stored: .unknown)].row = row
    }

    /// Notes that a change is sent, and returns what it replaces.
    mutating func noteSent(_ row: RecordRow, in database: DatabaseID) -> Stored {
      let number = makeNumber(of: row.id.zone, in: database)
      guard let index = zones[number].entries.index(forKey: row.id.name) else { return .unknown }
      let stored = zones[number].entries.values[index].stored
      if case .assumedAbsent = stored { zones[number].assumed -= 1 }
      // Perhaps the row has none; a second change of a record in one transaction is rare.
      zones[number].entries.values[index].stored = .present(hasLinks: true, hasFiles: true)
      return stored
    }
  }
#endif
