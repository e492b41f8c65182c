import Foundation
package import Records

/// The value of an expression when a predicate is evaluated on this device.
package enum PredicateValue {
  /// Nothing.
  case null
  /// A value that a field can hold; never a list.
  case value(FieldValue)
  /// A list.
  case list([PredicateValue])
  /// Something else: a record, a dictionary, or a value no field can hold.
  case object(Any)

  /// Converts an app's value.
  package init(_ any: Any?) {
    guard let any = any.flatMap(PredicateValue.unwrapped) else {
      self = .null
      return
    }
    switch any {
    case is NSNull: self = .null
    case let record as CKRecord: self = .object(record)
    case let id as CKRecordID: self = .value(.reference(Reference(target: id.value, action: .none)))
    case let dictionary as NSDictionary: self = .object(dictionary)
    case let members as [Any]: self = .list(members.map(PredicateValue.init))
    default:
      if let value = FieldValue(any) {
        self = PredicateValue(value)
      } else if let members = PredicateValue.members(any) {
        self = .list(members.map(PredicateValue.init))
      } else {
        self = .object(any)
      }
    }
  }

  /// A field's value.
  package init(_ value: FieldValue) {
    if case .list(let members) = value {
      self = .list(members.map { PredicateValue($0) })
    } else {
      self = .value(value)
    }
  }

  /// The members of a set of any kind, which has no order; `nil` for other things.
  package static func members(_ any: Any) -> [Any]? {
    switch any {
    case let set as NSSet: return set.allObjects
    case let set as NSOrderedSet: return set.array
    default:
      let mirror = Mirror(reflecting: any)
      return mirror.displayStyle == .set ? mirror.children.map(\.value) : nil
    }
  }

  /// The value of an optional at any depth; `nil` if there is none.
  package static func unwrapped(_ any: Any) -> Any? {
    let mirror = Mirror(reflecting: any)
    guard mirror.displayStyle == .optional else { return any }
    return mirror.children.first.flatMap { unwrapped($0.value) }
  }
}

extension PredicateOperand {
  /// An argument of a format string.
  package init(argument: Any?) {
    if let any = argument.flatMap(PredicateValue.unwrapped), !(any is [Any]),
      let members = PredicateValue.members(any)
    {
      self = .foreign(
        type: "\(type(of: any))", text: "\(members.count) members",
        members: members.map { PredicateOperand(argument: $0) })
    } else {
      self.init(PredicateValue(argument))
    }
  }

  private init(_ value: PredicateValue) {
    switch value {
    case .null: self = .null
    case .value(let value): self = .value(value)
    case .list(let members): self = .list(members.map(PredicateOperand.init))
    case .object(let record as CKRecord):
      self = .value(.reference(Reference(target: record.recordID.value, action: .none)))
    case .object(let any):
      self = .foreign(type: "\(type(of: any))", text: String(describing: any), members: nil)
    }
  }
}
