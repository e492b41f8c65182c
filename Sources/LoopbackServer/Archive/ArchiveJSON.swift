import Foundation
import Records

/// A JSON value as an archive needs it: members keep their order, numbers and texts every digit
/// and byte.
///
/// Foundation's own readers take texts that differ only in their Unicode form for one key, and
/// turn every number into a double where they can.
enum ArchiveJSON: Sendable {
  case flag(Bool)
  /// A number as it is spelt.
  case number(String)
  case text(String)
  case list([ArchiveJSON])
  case object([Member])

  /// One member of an object.
  struct Member: Sendable {
    var key: String
    var value: ArchiveJSON
  }

  /// A whole number.
  static func integer(_ value: some BinaryInteger) -> ArchiveJSON { .number("\(value)") }

  /// A floating-point number by its shortest exact spelling; the bits of one that JSON can't spell.
  static func double(_ value: Double) -> ArchiveJSON {
    value.isFinite
      ? .number("\(value)")
      : .text("bits:" + ArchiveJSON.hexadecimal(value.bitPattern))
  }

  /// Bytes in base 64.
  static func bytes(_ bytes: [UInt8]) -> ArchiveJSON {
    .text(Data(bytes).base64EncodedString())
  }

  /// Texts in their order.
  static func texts(_ texts: [String]) -> ArchiveJSON { .list(texts.map { .text($0) }) }

  /// Sixteen digits.
  static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// An object of the members that are there.
  static func object(_ members: KeyValuePairs<String, ArchiveJSON?>) -> ArchiveJSON {
    .object(members.compactMap { key, value in value.map { Member(key: key, value: $0) } })
  }

  /// This object with the members of `other` behind its own.
  func adding(_ other: ArchiveJSON) -> ArchiveJSON {
    guard case .object(let first) = self, case .object(let second) = other else { return self }
    return .object(first + second)
  }
}
