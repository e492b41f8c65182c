package import CloudProtocol
package import Records

/// The part of the port that keeps what record types look like.
package protocol SchemaStorage: AnyObject {
  /// What is known of a record type.
  func recordType(_ id: RecordTypeID) throws -> RecordTypeRow?

  /// All record types of a container's world, by name.
  func recordTypes(of container: String, in environment: CloudEnvironment) throws -> [RecordTypeRow]

  /// What holds for all record types of a container's world, if anything was ever said.
  func schema(of container: String, in environment: CloudEnvironment) throws -> SchemaRow?

  /// Prepares the storage to find the records of one type in one zone, which takes as long as the
  /// storage is large where no query asked for the type before.
  ///
  /// Looks at `limit` records at most, and returns whether nothing is left to do. Without it the
  /// first call of `records(ofType:in:of:after:limit:)` does all of it.
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

/// Names a record type of one container's world.
package struct RecordTypeID: Hashable, Sendable, Codable {
  /// The container.
  package var container: String
  /// The container's world.
  package var environment: CloudEnvironment
  /// The type's name.
  package var name: String

  /// Names a record type.
  package init(container: String, environment: CloudEnvironment, name: String) {
    self.container = container
    self.environment = environment
    self.name = name
  }
}

/// What a field of a record type holds, fixed by its first save.
///
/// Source: cloudkit-surface 1.2.
package struct FieldShape: Hashable, Sendable, Codable {
  /// The kind of its value.
  package var kind: FieldValue.Kind
  /// The kind of a list's members.
  package var element: FieldValue.Kind?
  /// Whether the value is kept encrypted.
  package var isEncrypted: Bool

  /// Describes a field.
  package init(kind: FieldValue.Kind, element: FieldValue.Kind? = nil, isEncrypted: Bool = false) {
    self.kind = kind
    self.element = element
    self.isEncrypted = isEncrypted
  }
}

/// What a field can be looked up by.
///
/// Every field has every index until an administrator says otherwise.
package struct FieldIndexes: OptionSet, Hashable, Sendable, Codable {
  /// The bits.
  package var rawValue: UInt8

  /// Wraps the bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It can stand in a filter.
  package static let queryable = FieldIndexes(rawValue: 1)
  /// It can stand in a sort.
  package static let sortable = FieldIndexes(rawValue: 2)
  /// Its words can be searched.
  package static let searchable = FieldIndexes(rawValue: 4)
  /// All of these.
  package static let all: FieldIndexes = [.queryable, .sortable, .searchable]
}

/// What is known of one field of a record type.
package struct FieldRow: Hashable, Sendable, Codable {
  /// The field's name, or a system field's.
  package var key: String
  /// What it holds; `nil` for a system field, and before the first save.
  package var shape: FieldShape?
  /// What it can be looked up by.
  package var indexes: FieldIndexes

  /// Describes a field.
  package init(key: String, shape: FieldShape?, indexes: FieldIndexes = .all) {
    self.key = key
    self.shape = shape
    self.indexes = indexes
  }
}

/// What is known of one record type; it only grows.
package struct RecordTypeRow: Hashable, Sendable, Codable {
  /// The type.
  package var id: RecordTypeID
  /// Its fields, by name.
  package private(set) var fields: [FieldRow]

  /// Describes a record type; of two fields with one name the later counts.
  package init(id: RecordTypeID, fields: [FieldRow] = []) {
    self.id = id
    self.fields = []
    for field in fields { self[field.key] = field }
  }

  /// What is known of the field `key`.
  package subscript(key: String) -> FieldRow? {
    get {
      let place = place(of: key)
      return place < fields.count && fields[place].key == key ? fields[place] : nil
    }
    set {
      let place = place(of: key)
      let isThere = place < fields.count && fields[place].key == key
      if isThere { fields.remove(at: place) }
      if let newValue { fields.insert(newValue, at: place) }
    }
  }

  private func place(of key: String) -> Int {
    var low = 0
    var high = fields.count
    while low < high {
      let middle = low + (high - low) / 2
      if fields[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// What holds for all record types of a container's world.
package struct SchemaRow: Hashable, Sendable, Codable {
  /// The container.
  package var container: String
  /// The container's world.
  package var environment: CloudEnvironment
  /// Whether saves can't bring new types and fields.
  package var isClosed: Bool

  /// Describes a schema.
  package init(container: String, environment: CloudEnvironment, isClosed: Bool) {
    self.container = container
    self.environment = environment
    self.isClosed = isClosed
  }
}
