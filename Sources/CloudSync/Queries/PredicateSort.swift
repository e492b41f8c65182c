package import Records

#if canImport(CoreLocation)
  import Foundation  // public, because the module exports CoreLocation
#else
  package import Foundation
#endif

/// One level of order, as in a sort descriptor.
package struct PredicateSort: Hashable, Sendable, Codable {
  /// The field; absent when the descriptor does not sort by a field.
  package var key: String?
  /// Whether small values are first.
  package var ascending: Bool
  /// The origin of distances.
  package var relativeTo: Location?

  /// Reads a descriptor.
  package init(_ descriptor: NSSortDescriptor) {
    key = descriptor.key
    ascending = descriptor.ascending
    relativeTo = (descriptor as? CKLocationSortDescriptor)?.relativeLocation.value
  }

  /// Converts a level of a query's order.
  package init(_ sort: Query.Sort) {
    key = SystemField(rawValue: sort.key)?.fieldName ?? sort.key
    ascending = sort.ascending
    relativeTo = sort.relativeTo
  }

  init(key: String?, ascending: Bool, relativeTo: Location?) {
    self.key = key
    self.ascending = ascending
    self.relativeTo = relativeTo
  }

  /// The order as a descriptor.
  package var descriptor: NSSortDescriptor {
    guard let relativeTo, let key else { return NSSortDescriptor(key: key, ascending: ascending) }
    return CKLocationSortDescriptor(key: key, relativeLocation: CLLocation(relativeTo))
  }
}

extension SystemField {
  /// The field that a name in a predicate or a sort descriptor stands for, in either spelling.
  package init?(fieldName: String) {
    let field = SystemField.allCases.first { $0.fieldName == fieldName }
    guard let field = field ?? SystemField(rawValue: fieldName) else { return nil }
    self = field
  }

  /// The name of the record's property for it.
  package var fieldName: String {
    switch self {
    case .recordID: "recordID"
    case .created: "creationDate"
    case .modified: "modificationDate"
    case .createdBy: "creatorUserRecordID"
    case .modifiedBy: "lastModifiedUserRecordID"
    case .parent: "parent"
    case .share: "share"
    }
  }

  /// The kind of its values.
  package var kind: FieldValue.Kind {
    switch self {
    case .created, .modified: .date
    case .recordID, .createdBy, .modifiedBy, .parent, .share: .reference
    }
  }
}
