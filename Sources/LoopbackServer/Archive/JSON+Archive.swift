import Foundation
import WebServices

/// JSON values in the form used by archives.
extension JSON {
  /// An integer; one outside of the archive's range is written in a form that the reader rejects.
  static func integer(_ value: some BinaryInteger) -> JSON {
    Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
  }

  /// A floating-point number in its shortest exact spelling; as its bits when JSON cannot represent
  /// it.
  static func double(_ value: Double) -> JSON {
    value.isFinite ? .number(value) : .string("bits:" + JSON.hexadecimal(value.bitPattern))
  }

  /// Bytes in base 64.
  static func bytes(_ bytes: [UInt8]) -> JSON { .string(Data(bytes).base64EncodedString()) }

  /// A list of strings.
  static func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

  /// Sixteen digits.
  static func hexadecimal(_ value: UInt64) -> String { String(format: "%016llx", value) }

  /// Appends the members of `other` to this object.
  func adding(_ other: JSON) -> JSON {
    guard case .object(let first) = self, case .object(let second) = other else { return self }
    return .object(Members(first.elements + second.elements))
  }
}
