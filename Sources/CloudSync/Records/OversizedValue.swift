import CloudProtocol
import Foundation
import Records

/// The value of a field with an integer that is too large for a record.
///
/// A record keeps it so that the app reads the value that it wrote; a save of the record is refused
/// with the field's name. It is not archived.
///
/// `@unchecked` because `NSArray` is not checked; the value is a copy and immutable.
package struct OversizedValue: @unchecked Sendable {
  /// The value as apps read it.
  let boxed: any CKRecordValueProtocol
  /// The first number that is too large.
  private let number: UInt64
  /// Whether the field is an encrypted one.
  let isEncrypted: Bool

  /// Wraps an app's value; returns `nil` if it has no such number, or a part that can't be stored.
  init?(_ object: Any, isEncrypted: Bool) {
    guard let (boxed, number) = OversizedValue.content(object), let number else { return nil }
    self.boxed = boxed
    self.number = number
    self.isEncrypted = isEncrypted
  }

  /// The copy of a value and its first number that is too large; `nil` if it can't be stored.
  private static func content(_ object: Any) -> (any CKRecordValueProtocol, UInt64?)? {
    if let value = FieldValue(object) { return (value.boxed, nil) }
    if let number = object as? NSNumber { return number.oversizedNumber.map { (number, $0) } }
    if let number = object as? any FixedWidthInteger {
      let number = UInt64(clamping: number)
      return (NSNumber(value: number), number)
    }
    guard let list = object as? [Any] else { return nil }
    let contents = list.compactMap(content)
    guard contents.count == list.count else { return nil }
    return (NSArray(array: contents.map(\.0)), contents.lazy.compactMap(\.1).first)
  }

  /// The error of a save of the field `key`.
  func fault(ofField key: String) -> CloudError {
    CloudError(
      .invalidArguments,
      "the field '\(key)' holds \(number), which is larger than the largest whole number that a "
        + "field can hold (\(Int64.max))")
  }
}
