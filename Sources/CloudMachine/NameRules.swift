import CloudProtocol
import Records

/// Validation of names.
///
/// Rules: CS-11 and CS-27 to CS-30, scenario `invalidRecordName`.
struct NameRules {
  var limits: CloudLimits

  /// The system fields of a share.
  ///
  /// Rules: CS-2, `CKShare.SystemFieldKey`.
  static let shareKeys = ["cloudkit.title", "cloudkit.thumbnailImageData", "cloudkit.type"]

  /// The error of an invalid record name; `nil` when it is valid.
  func faultOfRecordName(_ name: String) -> CloudError? { fault(of: name, "record name") }

  /// The error of an invalid zone name; `nil` when it is valid.
  func faultOfZoneName(_ name: String) -> CloudError? { fault(of: name, "zone name") }

  /// The error of an invalid subscription ID; `nil` when it is valid.
  func faultOfSubscriptionName(_ name: String) -> CloudError? {
    guard isPrintable(name) else {
      return error(
        name, "a subscription ID", "1 to \(limits.nameLength) printable ASCII characters")
    }
    return nil
  }

  /// The error of an invalid record type; `nil` when it is valid.
  func faultOfRecordType(_ type: String) -> CloudError? {
    fault(of: type, "a record type", length: limits.nameLength) { _ in false }
  }

  /// The error of an invalid field name; `nil` when it is valid.
  func faultOfFieldKey(_ key: String) -> CloudError? {
    fault(of: key, "a field name", length: limits.keyLength) { $0 == UInt8(ascii: "$") }
  }

  /// The error of a name that needs a letter first, and then letters, digits, underscores or what
  /// else is `allowed`.
  private func fault(
    of name: String, _ what: String, length: Int, allowed: (UInt8) -> Bool
  ) -> CloudError? {
    let bytes = name.utf8
    guard let first = bytes.first, isLetter(first), bytes.count <= length,
      bytes.allSatisfy({
        isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") || allowed($0)
      })
    else {
      return error(
        name, what, "1 to \(length) ASCII letters, digits or underscores, a letter first")
    }
    return nil
  }

  private func fault(of name: String, _ what: String) -> CloudError? {
    guard isPrintable(name), name.utf8.first != UInt8(ascii: "_") else {
      return error(
        name, "a \(what)",
        "1 to \(limits.nameLength) printable ASCII characters and no underscore first")
    }
    return nil
  }

  /// The error that shows the beginning of a name, and says what is needed.
  private func error(_ name: String, _ what: String, _ needed: String) -> CloudError {
    let start = name.prefix(64)
    let shown = start.endIndex == name.endIndex ? "'\(start)'" : "'\(start)…'"
    return CloudError(.invalidArguments, "\(shown) is not \(what): it needs \(needed)")
  }

  private func isPrintable(_ name: String) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.count <= limits.nameLength
      && bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
  }

  private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
