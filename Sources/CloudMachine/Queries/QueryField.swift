import CloudProtocol
import Records

/// The field of a filter or sort.
enum QueryField: Hashable {
  /// A field of the app.
  case named(String)
  /// A system field.
  case system(SystemField)

  /// The field called `key`; throws if the name is invalid.
  init(_ key: String) throws(CloudError) {
    if let system = SystemField(rawValue: key) {
      self = .system(system)
    } else if key.isEmpty || key.hasPrefix("_") {
      throw CloudError(.invalidArguments, "'\(key)' is not the name of a field")
    } else {
      self = .named(key)
    }
  }

  /// The name in error messages.
  var label: String {
    switch self {
    case .named(let key): key
    case .system(let field): field.label
    }
  }

  /// The name in the schema.
  var key: String {
    switch self {
    case .named(let key): key
    case .system(let field): field.rawValue
    }
  }

  /// The value in `record`; `nil` for an encrypted value.
  func value(in record: Record) -> FieldValue? {
    switch self {
    case .named(let key):
      guard let field = record.fields[key], !field.isEncrypted else { return nil }
      return field.value
    case .system(let field): return field.value(in: record)
    }
  }

  /// The type of the field, if known.
  func shape(in type: RecordTypeRow?) -> FieldShape? {
    switch self {
    case .named(let key): type?[key]?.shape
    case .system(.created), .system(.modified): FieldShape(kind: .date)
    case .system: FieldShape(kind: .reference)
    }
  }

  /// Throws unless the field has `index`.
  ///
  /// Rules: CS-71 to CS-90.
  func require(_ index: FieldIndexes, in type: RecordTypeRow?) throws(CloudError) {
    guard let row = type?[key], !row.indexes.contains(index) else { return }
    let word =
      index == .sortable ? "sortable" : index == .searchable ? "searchable" : "queryable"
    throw CloudError(.invalidArguments, "Field '\(label)' is not marked \(word)")
  }
}

extension SystemField {
  fileprivate var label: String {
    switch self {
    case .recordID: "recordName"
    case .created: "creationDate"
    case .modified: "modificationDate"
    case .createdBy: "creatorUserRecordID"
    case .modifiedBy: "lastModifiedUserRecordID"
    case .parent: "parent"
    case .share: "share"
    }
  }

  /// Whether the field refers to a user, whose zone is ignored.
  var isUser: Bool { self == .createdBy || self == .modifiedBy }

  fileprivate func value(in record: Record) -> FieldValue? {
    switch self {
    case .recordID: reference(to: record.id)
    case .created: (record.created?.time).map { .date($0) }
    case .modified: (record.modified?.time).map { .date($0) }
    case .createdBy: reference(to: record.created?.user)
    case .modifiedBy: reference(to: record.modified?.user)
    case .parent: reference(to: record.parent)
    case .share: reference(to: record.share)
    }
  }

  private func reference(to user: UserID?) -> FieldValue? {
    reference(to: user.map { RecordID(name: $0.rawValue, zone: .default) })
  }

  private func reference(to id: RecordID?) -> FieldValue? {
    id.map { .reference(Reference(target: $0, action: .none)) }
  }
}
