import CloudProtocol
import Foundation
import Records

/// The value of a field that holds a whole number larger than a record can hold.
///
/// A record keeps it so that the app reads what it wrote; a save of the record is refused with the
/// field's name. It is not archived.
package struct OversizedValue: Sendable {
  fileprivate indirect enum Content: Sendable {
    case wide(UInt64)
    case value(FieldValue)
    case list([Content])
  }

  private let content: Content
  /// Whether the field is an encrypted one.
  let isEncrypted: Bool

  /// The value that an app gave; `nil` when there is no such number in it, or anything else that
  /// can't be stored.
  init?(_ object: Any, isEncrypted: Bool) {
    guard let content = OversizedValue.content(object), content.number != nil else { return nil }
    self.content = content
    self.isEncrypted = isEncrypted
  }

  private static func content(_ object: Any) -> Content? {
    if let value = FieldValue(object) { return .value(value) }
    if let number = object as? NSNumber { return number.oversizedNumber.map { .wide($0) } }
    if let number = object as? any FixedWidthInteger { return .wide(UInt64(clamping: number)) }
    guard let list = object as? [Any] else { return nil }
    var contents: [Content] = []
    for element in list {
      guard let content = content(element) else { return nil }
      contents.append(content)
    }
    return .list(contents)
  }

  /// The value in the form apps read.
  var boxed: any CKRecordValueProtocol { content.boxed }

  /// Why the field `key` can't be saved.
  func fault(ofField key: String) -> CloudError {
    CloudError(
      .invalidArguments,
      "the field '\(key)' holds \(content.number ?? 0), which is larger than the largest whole "
        + "number that a field can hold (\(Int64.max))")
  }
}

extension OversizedValue.Content {
  /// The first number that is too large.
  fileprivate var number: UInt64? {
    switch self {
    case .wide(let number): number
    case .value: nil
    case .list(let contents): contents.lazy.compactMap(\.number).first
    }
  }

  fileprivate var boxed: any CKRecordValueProtocol {
    switch self {
    case .wide(let number): NSNumber(value: number)
    case .value(let value): value.boxed
    case .list(let contents): NSArray(array: contents.map(\.boxed))
    }
  }
}
