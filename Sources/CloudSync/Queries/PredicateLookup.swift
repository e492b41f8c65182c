import Foundation
import Records

/// Looks up names in records and dictionaries.
enum PredicateLookup {
  /// The value of a path of names separated by dots; `null` if there is none.
  static func value(_ path: String, in object: Any?) -> PredicateValue {
    var value = PredicateValue(object)
    for name in path.split(separator: ".", omittingEmptySubsequences: false) {
      value = self.value(name: String(name), in: value)
    }
    return value
  }

  private static func value(name: String, in value: PredicateValue) -> PredicateValue {
    switch value {
    case .null: return .null
    case .list(let members):
      if name.hasPrefix("@") {
        return PredicateFunction.value(name.dropFirst() + ":", [value])
      }
      return .list(members.map { self.value(name: name, in: $0) })
    case .object(let record as CKRecord): return self.value(name: name, in: record)
    case .object(let dictionary as [String: Any]): return PredicateValue(dictionary[name])
    case .value(.reference(let reference)): return self.value(name: name, in: reference.target)
    case .value(.string(let text)):
      return name == "length" ? .value(.int64(Int64(text.utf16.count))) : .null
    case .value, .object: return .null
    }
  }

  private static func value(name: String, in record: CKRecord) -> PredicateValue {
    if let field = record.object(forKey: name) { return PredicateValue(field) }
    if name == "allTokens" { return PredicateValue(record.allTokens()) }
    return PredicateValue(record.property(SystemField(fieldName: name)?.fieldName ?? name))
  }

  /// The parts of a record's ID, as `recordID.recordName`, also through a reference.
  private static func value(name: String, in id: RecordID) -> PredicateValue {
    switch name {
    case "recordID", "zoneID": .value(.reference(Reference(target: id, action: .none)))
    case "recordName": .value(.string(id.name))
    case "zoneName": .value(.string(id.zone.name))
    case "ownerName": .value(.string(id.zone.owner))
    default: .null
    }
  }
}
