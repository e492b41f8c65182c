import Foundation
import WebServices

/// What an archive writes by a rule of its own.
extension JSON {
  /// A whole number; one that no archive may hold is written so that it is not taken back.
  static func integer(_ value: some BinaryInteger) -> JSON {
    Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
  }

  /// A floating-point number by its shortest exact spelling; the bits of one that JSON can't spell.
  static func double(_ value: Double) -> JSON {
    value.isFinite ? .number(value) : .string("bits:" + JSON.hexadecimal(value.bitPattern))
  }

  /// Bytes in base 64.
  static func bytes(_ bytes: [UInt8]) -> JSON { .string(Data(bytes).base64EncodedString()) }

  /// Texts in their order.
  static func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

  /// Sixteen digits.
  static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// This object with the members of `other` behind its own.
  func adding(_ other: JSON) -> JSON {
    guard case .object(let first) = self, case .object(let second) = other else { return self }
    return .object(Members(first.elements + second.elements))
  }
}
