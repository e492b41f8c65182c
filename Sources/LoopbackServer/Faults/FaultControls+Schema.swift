import CloudMachine
public import CloudProtocol
import Records

/// What an administrator does with record types, as in a dashboard.
extension FaultControls {
  /// Brings the types and fields of the development world to production, which then refuses all
  /// others.
  ///
  /// Until then a container's production schema grows by use. Throws `invalidArguments` when a
  /// field differs in kind between the two worlds, `networkFailure` after the server was closed.
  /// Source: cloudkit-surface 2.4.
  public func deploySchema(container: String) throws(CloudError) {
    let pushes = try room.administer(
      container: container, environment: .production, account: nil
    ) { machine, _, storage in
      try machine.deploySchema(of: container, in: storage)
      return []
    }
    post.send(pushes)
  }

  /// Says what a field can be looked up by; every field has every index until this was called.
  ///
  /// Queries that need a missing one end in `invalidArguments`, as in production. Throws
  /// `networkFailure` after the server was closed. Source: cloudkit-surface 1.8.
  /// - Parameter field: an app's field, or a system field by its name in queries, such as
  ///   `___recordID`, which a query without a filter needs.
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
    let wanted = indexes
    let pushes = try room.administer(
      container: container, environment: environment, account: nil
    ) { machine, _, storage in
      try machine.setIndexes(wanted, of: field, recordType: type, in: storage)
      return []
    }
    post.send(pushes)
  }
}
