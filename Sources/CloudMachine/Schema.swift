import CloudProtocol
import Records

/// The record types that a request uses, and their extensions by its saves.
///
/// Rules: CS-121 to CS-124.
struct Schema {
  private let context: RequestContext
  private var types: [String: RecordTypeRow] = [:]
  private var isClosed: Bool?
  /// Whether a save adds a type, a field or the element kind of a list.
  private(set) var bringsNews = false

  /// Reads the record types.
  ///
  /// - Parameter types: those that the request has extended already, as far as they are known.
  init(_ context: RequestContext, _ types: [RecordTypeID: RecordTypeRow]) {
    self.context = context
    for (id, row) in types { self.types[id.name] = row }
  }

  /// The error if the values of `save` don't match its type; additions to the type are kept for the
  /// following saves.
  mutating func fault(of save: RecordSave) throws -> CloudError? {
    guard context.limits.fixesFieldKinds, !save.type.hasPrefix("cloudkit.") else { return nil }
    var row: RecordTypeRow
    var (isNew, isChanged) = (false, false)
    if let known = try known(save.type) {
      row = known
    } else if save.type == RequestContext.userRecordType {
      row = RecordTypeRow(id: id(of: save.type))
    } else {
      if try mustStayAsItIs() {
        return CloudError(
          .serverRejectedRequest,
          "Cannot create new type \(save.type) in production schema; deploy the schema first")
      }
      row = RecordTypeRow(id: id(of: save.type))
      isNew = true
    }
    var added: [String: FieldRow] = [:]
    for change in save.changes {
      guard let field = change.field else { continue }
      if let shape = (row[change.key] ?? added[change.key])?.shape {
        if let error = field.fault(as: shape, change.key, save.type) { return error }
        guard shape.kind == .list, shape.element == nil, let found = field.shape else { continue }
        row[change.key]?.shape = found
        added[change.key]?.shape = found
        isChanged = true
      } else {
        if !isNew, try mustStayAsItIs() {
          return CloudError(
            .invalidArguments,
            "Cannot create or modify field '\(change.key)' in record '\(save.type)' in production "
              + "schema; deploy the schema first")
        }
        guard let shape = field.shape else {
          return CloudError(
            .invalidArguments,
            "cannot use an empty list to initialize the new field '\(change.key)'")
        }
        if row[change.key] == nil {
          added[change.key] = FieldRow(key: change.key, shape: shape, indexes: .all)
        } else {
          row[change.key]?.shape = shape
        }
        isChanged = true
      }
    }
    if !added.isEmpty { row.add(added.values) }
    if isNew || isChanged {
      bringsNews = true
      types[save.type] = row
    }
    return nil
  }

  /// The updated type rows after `records` were saved.
  func additions(from records: [Record]) throws -> [RecordTypeRow] {
    guard context.limits.fixesFieldKinds else { return [] }
    var rows: [String: RecordTypeRow] = [:]
    var changed: [String] = []
    for record in records where !record.type.hasPrefix("cloudkit.") {
      let stored =
        try rows[record.type] ?? types[record.type]
        ?? context.storage.recordType(id(of: record.type))
      var row = stored ?? RecordTypeRow(id: id(of: record.type))
      for element in record.fields where row[element.key]?.shape == nil {
        row[element.key] = FieldRow(
          key: element.key, shape: element.field.shape,
          indexes: row[element.key]?.indexes ?? .all)
      }
      if row != stored, !changed.contains(record.type) { changed.append(record.type) }
      rows[record.type] = row
    }
    return changed.compactMap { rows[$0] }
  }

  private mutating func known(_ type: String) throws -> RecordTypeRow? {
    if let row = types[type] { return row }
    let row = try context.storage.recordType(id(of: type))
    types[type] = row
    return row
  }

  private mutating func mustStayAsItIs() throws -> Bool {
    if let isClosed { return isClosed }
    let found = try context.hasClosedSchema()
    isClosed = found
    return found
  }

  private func id(of type: String) -> RecordTypeID {
    RecordTypeID(
      container: context.database.container, environment: context.database.environment, name: type)
  }
}

extension Field {
  /// The type that a field gets from this value; `nil` for an empty list, which does not determine
  /// it.
  fileprivate var shape: FieldShape? {
    guard case .list(let values) = value else {
      return FieldShape(kind: value.kind, isEncrypted: isEncrypted)
    }
    guard let first = values.first else { return nil }
    return FieldShape(kind: .list, element: first.kind, isEncrypted: isEncrypted)
  }

  /// The error if this value does not match the field `key` of type `shape`.
  fileprivate func fault(as shape: FieldShape, _ key: String, _ type: String) -> CloudError? {
    if isEncrypted != shape.isEncrypted {
      return CloudError(
        .invalidArguments,
        "the field '\(key)' of \(type) is \(shape.isEncrypted ? "" : "not ")encrypted, and stays so"
      )
    }
    let isFitting =
      if case .list(let values) = value {
        shape.kind == .list && (values.isEmpty || values.first?.kind == shape.element)
      } else {
        value.kind == shape.kind
      }
    if isFitting { return nil }
    return CloudError(
      .invalidArguments,
      "the field '\(key)' of \(type) holds \(shape.words), and can't take the kind \(value.kind)")
  }
}
