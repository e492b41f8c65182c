public import Foundation
package import Records

/// A type of the values that a field can hold.
package protocol FieldValueConvertible {
  /// The value of the field; `nil` if an element can't be stored.
  var fieldValue: FieldValue? { get }
}

extension String: CKRecordValueProtocol, FieldValueConvertible {
  /// The text, unit by unit.
  package var fieldValue: FieldValue? { .string(self) }
}

extension Date: CKRecordValueProtocol, FieldValueConvertible {
  /// The time, to the bit.
  package var fieldValue: FieldValue? {
    .date(Timestamp(secondsSinceReferenceDate: timeIntervalSinceReferenceDate))
  }
}

extension Data: CKRecordValueProtocol, FieldValueConvertible {
  /// The bytes.
  package var fieldValue: FieldValue? { .bytes([UInt8](self)) }
}

extension Bool: CKRecordValueProtocol, FieldValueConvertible {
  /// 0 or 1, as CloudKit has no boolean.
  package var fieldValue: FieldValue? { .int64(self ? 1 : 0) }
}

extension Double: CKRecordValueProtocol, FieldValueConvertible {
  /// The number, to the bit.
  package var fieldValue: FieldValue? { .double(self) }
}

extension Float: CKRecordValueProtocol, FieldValueConvertible {
  /// The number, widened.
  package var fieldValue: FieldValue? { .double(Double(self)) }
}

extension FixedWidthInteger {
  /// The number, unless it is larger than the largest one that a field holds, `Int64.max`.
  package var fieldValue: FieldValue? { Int64(exactly: self).map { .int64($0) } }
}

extension Int: CKRecordValueProtocol, FieldValueConvertible {}
extension Int8: CKRecordValueProtocol, FieldValueConvertible {}
extension Int16: CKRecordValueProtocol, FieldValueConvertible {}
extension Int32: CKRecordValueProtocol, FieldValueConvertible {}
extension Int64: CKRecordValueProtocol, FieldValueConvertible {}
extension UInt: CKRecordValueProtocol, FieldValueConvertible {}
extension UInt8: CKRecordValueProtocol, FieldValueConvertible {}
extension UInt16: CKRecordValueProtocol, FieldValueConvertible {}
extension UInt32: CKRecordValueProtocol, FieldValueConvertible {}
extension UInt64: CKRecordValueProtocol, FieldValueConvertible {}

extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}

extension Array: FieldValueConvertible where Element: FieldValueConvertible {
  /// The list, when all of its elements can be stored.
  package var fieldValue: FieldValue? { FieldValue(list: self) }
}

extension NSString: CKRecordValueProtocol, FieldValueConvertible {
  /// The text.
  package var fieldValue: FieldValue? { .string(String(describing: self)) }
}

extension NSNumber: CKRecordValueProtocol, FieldValueConvertible {
  /// A floating-point number when it was made from one, else a whole number, unless that is larger
  /// than `Int64.max`.
  package var fieldValue: FieldValue? {
    if isFloatingPoint { return .double(doubleValue) }
    return oversizedNumber == nil ? .int64(int64Value) : nil
  }

  /// The whole number where it is larger than `Int64.max`.
  var oversizedNumber: UInt64? {
    guard !isFloatingPoint, int64Value < 0, compare(NSNumber(value: 0)) == .orderedDescending
    else { return nil }
    return uint64Value
  }

  private var isFloatingPoint: Bool {
    switch UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): true
    default: false
    }
  }
}

extension NSDate: CKRecordValueProtocol, FieldValueConvertible {
  /// The time, to the bit.
  package var fieldValue: FieldValue? {
    .date(Timestamp(secondsSinceReferenceDate: timeIntervalSinceReferenceDate))
  }
}

extension NSData: CKRecordValueProtocol, FieldValueConvertible {
  /// The bytes.
  package var fieldValue: FieldValue? { .bytes([UInt8](Data(referencing: self))) }
}

extension NSArray: CKRecordValueProtocol, FieldValueConvertible {
  /// The list, when all of its elements can be stored.
  package var fieldValue: FieldValue? { FieldValue(list: self) }
}

extension FieldValue {
  /// Converts an app's value; returns `nil` if it can't be stored.
  package init?(_ value: Any) {
    if let convertible = value as? any FieldValueConvertible {
      guard let converted = convertible.fieldValue else { return nil }
      self = converted
    } else if let list = value as? [Any] {
      self.init(list: list)
    } else {
      return nil
    }
  }

  /// A list, when all of its elements can be stored; there are no lists of lists.
  fileprivate init?(list: some Sequence) {
    var values: [FieldValue] = []
    for element in list {
      guard let value = FieldValue(element), value.kind != .list else { return nil }
      values.append(value)
    }
    self = .list(FieldValue.alike(values))
  }

  /// A list of numbers, some of them floating-point, as floating-point numbers throughout: lists
  /// hold one kind, but `[1, 2.5]` of `NSNumber` is one list to an app.
  ///
  /// Left as it is when a whole number is too large for that.
  private static func alike(_ values: [FieldValue]) -> [FieldValue] {
    let kinds = Set(values.map(\.kind))
    guard kinds == [.int64, .double] else { return values }
    var numbers: [FieldValue] = []
    for value in values {
      guard case .int64(let whole) = value else {
        numbers.append(value)
        continue
      }
      guard let number = Double(exactly: whole) else { return values }
      numbers.append(.double(number))
    }
    return numbers
  }

  /// The value as apps read it: numbers are boxed, so that they can be cast to any number type.
  package var boxed: any CKRecordValueProtocol {
    switch self {
    case .string(let value): return value
    case .int64(let value): return NSNumber(value: value)
    case .double(let value): return NSNumber(value: value)
    case .date(let value): return Date(value)
    case .bytes(let value): return Data(value)
    case .reference(let value): return CKReference(value)
    case .asset(let value): return CKAsset(value)
    case .location(let value): return CLLocation(value)
    case .list(let values): return FieldValue.boxed(list: values)
    }
  }

  /// A list of one kind as a Swift array, which casts fastest; a mixed one as `NSArray`.
  private static func boxed(list values: [FieldValue]) -> any CKRecordValueProtocol {
    let boxes = values.map(\.boxed)
    if let texts = boxes as? [String] { return texts }
    if let numbers = boxes as? [NSNumber] { return numbers }
    return NSArray(array: boxes)
  }
}

extension Date {
  /// The same time, to the bit.
  package init(_ timestamp: Timestamp) {
    self.init(timeIntervalSinceReferenceDate: timestamp.secondsSinceReferenceDate)
  }
}
