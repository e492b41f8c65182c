public import Foundation
package import Records

/// A file that belongs to a record.
///
/// The file is not looked at before a save; a missing one fails the save with
/// `assetFileNotFound`. See CS-36 to CS-38.
public final class CKAsset: NSObject, NSSecureCoding, Sendable, CKRecordValueProtocol {
  /// The asset as the vocabulary spells it.
  package let value: Asset

  /// Wraps an asset of the vocabulary.
  package init(_ value: Asset) { self.value = value }

  /// The file at `fileURL`, to be uploaded when the record is saved.
  public convenience init(fileURL: URL) {
    self.init(Asset(checksum: "", size: 0, location: fileURL.absoluteString))
  }

  /// Where the content lies on this device; after a fetch a place that may be cleaned up, so
  /// copy or move the file from there.
  public var fileURL: URL? {
    guard let location = value.location, let url = URL(string: location), url.isFileURL else {
      return nil
    }
    return url
  }

  /// Whether `object` is the same content at the same place.
  public override func isEqual(_ object: Any?) -> Bool { (object as? CKAsset)?.value == value }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The size, checksum and place.
  public override var description: String {
    "<CKAsset: size=\(value.size), checksum=\(value.checksum), fileURL=\(value.location ?? "none")>"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives what is known of the file, not its content.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncAsset", with: coder) { $0.write(.asset(value)) }
  }

  /// Reads the asset back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncAsset", with: coder) {
      (reader) throws(ByteFormatError) in try reader.fieldValue()
    }
    if case .asset(let value) = value {
      self.init(value)
    } else if let value = Asset(appleArchive: coder) {
      self.init(value)
    } else {
      return nil
    }
  }
}

extension CKAsset: FieldValueConvertible {
  /// The asset.
  package var fieldValue: FieldValue? { .asset(value) }
}
