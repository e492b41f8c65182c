import CloudProtocol
import Records

/// What names may look like.
///
/// Sources: cloudkit-surface 1.2 and 2.4, scenario `invalidRecordName`.
struct NameRules {
  var limits: CloudLimits

  /// The fields of a share with names of their own.
  ///
  /// Source: cloudkit-surface 1.1, `CKShare.SystemFieldKey`.
  static let shareKeys = ["cloudkit.title", "cloudkit.thumbnailImageData", "cloudkit.type"]

  /// Why `name` can't name a record; `nil` when it can.
  func faultOfRecordName(_ name: String) -> CloudError? { fault(of: name, "record name") }

  /// Why `name` can't name a custom zone; `nil` when it can.
  func faultOfZoneName(_ name: String) -> CloudError? { fault(of: name, "zone name") }

  /// Why `name` can't name a subscription; `nil` when it can.
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

  /// Why `type` can't name a record type; `nil` when it can.
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

  /// Why `key` can't name a field; `nil` when it can.
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
