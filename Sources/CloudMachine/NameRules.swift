import CloudProtocol
import Records

/// Validation of names.
///
/// Rules: CS-7 to CS-29 and CS-125 to CS-139, scenario `invalidRecordName`.
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
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= limits.nameLength,
      bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f })
    else {
      return CloudError(
        .invalidArguments,
        "a subscription ID needs 1 to \(limits.nameLength) printable ASCII characters")
    }
    return nil
  }

  /// The error of an invalid record type; `nil` when it is valid.
  func faultOfRecordType(_ type: String) -> CloudError? {
    let bytes = type.utf8
    guard let first = bytes.first, isLetter(first), bytes.count <= limits.nameLength,
      bytes.allSatisfy({ isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") })
    else {
      return CloudError(
        .invalidArguments,
        "a record type needs 1 to \(limits.nameLength) ASCII letters, digits or underscores, "
          + "a letter first")
    }
    return nil
  }

  /// The error of an invalid field name; `nil` when it is valid.
  func faultOfFieldKey(_ key: String) -> CloudError? {
    let bytes = key.utf8
    guard let first = bytes.first, isLetter(first), bytes.count <= limits.keyLength,
      bytes.allSatisfy({
        isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "$")
      })
    else {
      return CloudError(
        .invalidArguments,
        "a field name needs 1 to \(limits.keyLength) ASCII letters, digits or underscores, "
          + "a letter first")
    }
    return nil
  }

  private func fault(of name: String, _ what: String) -> CloudError? {
    let bytes = name.utf8
    guard let first = bytes.first, first != UInt8(ascii: "_"), bytes.count <= limits.nameLength,
      bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f })
    else {
      return CloudError(
        .invalidArguments,
        "a \(what) needs 1 to \(limits.nameLength) printable ASCII characters and must not start "
          + "with an underscore")
    }
    return nil
  }

  private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
