public import CloudProtocol
public import Records

extension MemoryStorage {
  /// The row of a record type.
  public func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? {
    current.recordTypes[id]
  }

  /// All record types of a container's environment, by name.
  public func recordTypes(
    of container: String, in environment: CloudEnvironment
  ) throws -> [RecordTypeRow] {
    current.recordTypes.values
      .filter { $0.id.container == container && $0.id.environment == environment }
      .sorted { $0.id.name < $1.id.name }
  }

  /// The schema of a container's environment.
  public func schema(
    of container: String, in environment: CloudEnvironment
  ) throws -> SchemaRow? {
    current.schemas[RecordTypeID(allOf: container, in: environment)]
  }

  /// Indexes the records of one type, `limit` rows at a time.
  public func prepareRecords(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
  ) throws -> Bool {
    applyCommitted()
    return state.databases[database]?.zones[zone]?.records.index(type: type, limit: limit) ?? true
  }

  /// The live records of one type, by name.
  public func records(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
  ) throws -> [RecordRow] {
    applyCommitted()
    return state.databases[database]?.zones[zone]?.records
      .rows(ofType: type, after: name, limit: limit) ?? []
  }
}
