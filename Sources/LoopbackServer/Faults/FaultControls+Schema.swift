import CloudMachine
public import CloudProtocol
import Records

/// Schema administration, as in CloudKit's dashboard.
extension FaultControls {
  /// Deploys the types and fields of the development environment to production, which then rejects
  /// all others.
  ///
  /// Before the first deployment, a container's production schema grows by use. Throws
  /// `invalidArguments` if a field differs in kind between the two environments, `networkFailure`
  /// after the server was closed. Rules: CS-125 to CS-139.
  public func deploySchema(container: String) throws(CloudError) {
    try executor.change { machine, storage in
      try machine.deploySchema(of: container, in: storage)
    }
  }

  /// Sets the indexes of a field; by default every field has every index.
  ///
  /// Queries that need a missing index fail with `invalidArguments`, as in production. Throws
  /// `networkFailure` after the server was closed. Rules: CS-71 to CS-90.
  /// - Parameters:
  ///   - field: an app's field, or the query name of a system field, such as `___recordID`, which a
  ///     query without a filter needs.
  ///   - recordType: the type of the records.
  ///   - container: the container's identifier.
  ///   - environment: the environment of the container.
  ///   - queryable: whether queries may filter by the field.
  ///   - sortable: whether queries may sort by the field.
  ///   - searchable: whether queries may search for words in the field.
  public func setIndexes(
    of field: String, recordType: String, container: String,
    environment: CloudEnvironment = .development, queryable: Bool, sortable: Bool,
    searchable: Bool
  ) throws(CloudError) {
    var indexes: FieldIndexes = []
    if queryable { indexes.insert(.queryable) }
    if sortable { indexes.insert(.sortable) }
    if searchable { indexes.insert(.searchable) }
    let type = RecordTypeID(container: container, environment: environment, name: recordType)
    try executor.change { machine, storage in
      try machine.setIndexes(indexes, of: field, recordType: type, in: storage)
    }
  }
}
