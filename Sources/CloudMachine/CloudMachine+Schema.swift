import CloudProtocol
import Records

/// Schema administration, which is not available to callers.
///
/// Each method works in the transaction of `storage` that its caller runs.
extension CloudMachine {
  /// Deploys the types and fields of the development environment to production, which then rejects
  /// all others.
  ///
  /// Before the first deployment of a container, its production schema grows by use like the
  /// development schema. Throws `invalidArguments` if a field differs in kind between the two, and
  /// what the storage throws. Rules: CS-125 to CS-139.
  package func deploySchema(of container: String, in storage: any CloudStorage) throws {
    var changes: [StorageChange] = []
    for type in try storage.recordTypes(of: container, in: .development) {
      let id = RecordTypeID(
        container: container, environment: .production, name: type.id.name)
      var row = try storage.recordType(id) ?? RecordTypeRow(id: id)
      for field in type.fields {
        if let known = row[field.key]?.shape, let shape = field.shape, known != shape {
          throw CloudError(
            .invalidArguments,
            "the field '\(field.key)' of \(id.name) is of another kind in production")
        }
        row[field.key] = FieldRow(
          key: field.key, shape: field.shape ?? row[field.key]?.shape, indexes: field.indexes)
      }
      changes.append(.putRecordType(row))
    }
    changes.append(
      .putSchema(SchemaRow(container: container, environment: .production, isClosed: true)))
    try storage.commit(changes)
  }

  /// Sets the indexes of the field `key` of a record type.
  ///
  /// - Parameter key: an app's field, or the `SystemField` name of a system field.
  package func setIndexes(
    _ indexes: FieldIndexes, of key: String, recordType id: RecordTypeID,
    in storage: any CloudStorage
  ) throws {
    var row = try storage.recordType(id) ?? RecordTypeRow(id: id)
    row[key] = FieldRow(key: key, shape: row[key]?.shape, indexes: indexes)
    try storage.commit([.putRecordType(row)])
  }
}
