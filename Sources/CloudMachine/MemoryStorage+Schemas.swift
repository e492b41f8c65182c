public import CloudProtocol
public import Records

/// The schemas and record types.
struct MemorySchemas {
  var types: [RecordTypeID: RecordTypeRow] = [:]
  private var schemas: [SchemaKey: SchemaRow] = [:]

  private struct SchemaKey: Hashable {
    var container: String
    var environment: CloudEnvironment
  }

  mutating func put(_ row: SchemaRow) {
    schemas[SchemaKey(container: row.container, environment: row.environment)] = row
  }

  /// The schemas of all containers, in no particular order.
  var all: [SchemaRow] { Array(schemas.values) }

  func schema(of container: String, in environment: CloudEnvironment) -> SchemaRow? {
    schemas[SchemaKey(container: container, environment: environment)]
  }
}

extension MemoryStorage {
  /// The row of a record type.
  public func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? {
    current.schemas.types[id]
  }

  /// All record types of a container's environment, by name.
  public func recordTypes(
    of container: String, in environment: CloudEnvironment
  ) throws -> [RecordTypeRow] {
    current.schemas.types.values
      .filter { $0.id.container == container && $0.id.environment == environment }
      .sorted { $0.id.name < $1.id.name }
  }

  /// The schema of a container's environment.
  public func schema(
    of container: String, in environment: CloudEnvironment
  ) throws -> SchemaRow? { current.schemas.schema(of: container, in: environment) }

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
