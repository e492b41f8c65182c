public import CloudProtocol
public import Records

/// The part of ``CloudStorage`` for schemas and record types.
public protocol SchemaStorage: AnyObject {
  /// The row of a record type.
  func recordType(_ id: RecordTypeID) throws -> RecordTypeRow?

  /// All record types of a container's environment, by name.
  func recordTypes(of container: String, in environment: CloudEnvironment) throws -> [RecordTypeRow]

  /// The schema of a container's environment, if one was set.
  func schema(of container: String, in environment: CloudEnvironment) throws -> SchemaRow?

  /// Prepares the storage to find the records of one type in one zone; the first query for a type
  /// takes time proportional to the size of the storage.
  ///
  /// Reads at most `limit` records, and returns whether the preparation is complete. Without it the
  /// first call of `records(ofType:in:of:after:limit:)` does all of the work.
  func prepareRecords(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
  ) throws -> Bool

  /// The live records of one type in one zone, by name, those after `name`, at most `limit`.
  ///
  /// The order is that of the names' bytes; `nil` starts with the first.
  func records(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
  ) throws -> [RecordRow]
}

/// The ID of a record type in a container's environment.
public struct RecordTypeID: Hashable, Sendable, Codable {
  /// The identifier of the container that the types belong to.
  public var container: String
  /// The container's environment.
  public var environment: CloudEnvironment
  /// The type's name.
  public var name: String

  /// Creates the ID of a record type.
  public init(container: String, environment: CloudEnvironment, name: String) {
    self.container = container
    self.environment = environment
    self.name = name
  }
}

/// The type of a field, fixed by its first save.
///
/// Rules: CS-7 to CS-29.
public struct FieldShape: Hashable, Sendable, Codable {
  /// The kind of its value.
  public var kind: FieldValue.Kind
  /// The kind of a list's members.
  public var element: FieldValue.Kind?
  /// Whether the value is encrypted.
  public var isEncrypted: Bool

  /// Creates the row of a field.
  public init(kind: FieldValue.Kind, element: FieldValue.Kind? = nil, isEncrypted: Bool = false) {
    self.kind = kind
    self.element = element
    self.isEncrypted = isEncrypted
  }
}

/// The indexes of a field.
///
/// Every field has every index unless an administrator removes one.
public struct FieldIndexes: OptionSet, Hashable, Sendable, Codable {
  /// The bits.
  public var rawValue: UInt8

  /// Wraps the bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The field can be used in a filter.
  public static let queryable = FieldIndexes(rawValue: 1)
  /// The field can be used in a sort.
  public static let sortable = FieldIndexes(rawValue: 2)
  /// The words of the field can be searched.
  public static let searchable = FieldIndexes(rawValue: 4)
  /// All of these.
  public static let all: FieldIndexes = [.queryable, .sortable, .searchable]
}

/// The row of a field of a record type.
public struct FieldRow: Hashable, Sendable, Codable {
  /// The field's name, or a system field's.
  public var key: String
  /// The type of the field; `nil` for a system field, and before the first save.
  public var shape: FieldShape?
  /// The indexes of the field.
  public var indexes: FieldIndexes

  /// Creates the row of a field.
  public init(key: String, shape: FieldShape?, indexes: FieldIndexes = .all) {
    self.key = key
    self.shape = shape
    self.indexes = indexes
  }
}

/// The row of a record type; fields are only added.
public struct RecordTypeRow: Hashable, Sendable, Codable {
  /// The type.
  public var id: RecordTypeID
  /// Its fields, by name.
  public private(set) var fields: [FieldRow]

  /// Creates the row of a record type; of two fields with the same name the later one is used.
  public init(id: RecordTypeID, fields: [FieldRow] = []) {
    self.id = id
    self.fields = []
    for field in fields { self[field.key] = field }
  }

  /// The row of the field `key`.
  public subscript(key: String) -> FieldRow? {
    get {
      let index = index(of: key)
      return index < fields.count && fields[index].key == key ? fields[index] : nil
    }
    set {
      let index = index(of: key)
      let isPresent = index < fields.count && fields[index].key == key
      switch (newValue, isPresent) {
      case (let field?, true): fields[index] = field
      case (let field?, false): fields.insert(field, at: index)
      case (nil, true): fields.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Adds fields that the type does not have, all in one pass over its fields.
  package mutating func add(_ new: some Sequence<FieldRow>) {
    fields = (fields + new).sorted { $0.key < $1.key }
  }

  /// The index of the first field whose name is not below `key`.
  private func index(of key: String) -> Int { fields.partitioningIndex { $0.key >= key } }
}

/// The schema of a container's environment.
public struct SchemaRow: Hashable, Sendable, Codable {
  /// The identifier of the container that the types belong to.
  public var container: String
  /// The container's environment.
  public var environment: CloudEnvironment
  /// Whether saves cannot add types and fields.
  public var isClosed: Bool

  /// Creates the row of a schema.
  public init(container: String, environment: CloudEnvironment, isClosed: Bool) {
    self.container = container
    self.environment = environment
    self.isClosed = isClosed
  }
}

extension SchemaRow {
  /// The key of the schema among the record types: no type has its empty name.
  package var key: RecordTypeID { RecordTypeID(allOf: container, in: environment) }
}

extension RecordTypeID {
  /// The key of the schema of a container's environment.
  package init(allOf container: String, in environment: CloudEnvironment) {
    self.init(container: container, environment: environment, name: "")
  }
}
