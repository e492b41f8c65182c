public import Foundation
package import Records

/// A file that belongs to a record.
///
/// The file is read when its record is saved; a missing one fails the save with
/// `assetFileNotFound`. See CS-36 to CS-38.
public final class CKAsset: NSObject, NSSecureCoding, Sendable, CKRecordValueProtocol,
  FieldValueConvertible
{
  /// The field value of the asset.
  package var fieldValue: FieldValue? { .asset(value) }

  /// The asset as a value.
  package let value: Asset

  /// Wraps an asset.
  package init(_ value: Asset) { self.value = value }

  /// Creates an asset for the file at `fileURL`, which is uploaded when the record is saved.
  ///
  /// A URL that is not a file's stops the process, as in CloudKit.
  public convenience init(fileURL: URL) {
    precondition(fileURL.isFileURL, "CKAsset: the URL of an asset must be a file's.")
    self.init(Asset(checksum: "", size: 0, location: fileURL.absoluteString))
  }

  /// The URL of the file on this device; after a fetch it is a temporary file, so
  /// copy or move it.
  public var fileURL: URL? {
    guard let location = value.location, let url = URL(string: location), url.isFileURL else {
      return nil
    }
    return url
  }

  /// Whether `object` is an equal asset.
  public override func isEqual(_ object: Any?) -> Bool { (object as? CKAsset)?.value == value }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The size, checksum and URL.
  public override var description: String {
    "<CKAsset: size=\(value.size), checksum=\(value.checksum), fileURL=\(value.location ?? "none")>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the description of the file, not its content.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncAsset", with: coder) { $0.write(.asset(value)) }
  }

  /// Decodes an asset; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncAsset", with: coder) { try $0.fieldValue() }
    if case .asset(let value) = value {
      self.init(value)
    } else if let value = Asset(appleArchive: coder) {
      self.init(value)
    } else {
      return nil
    }
  }
}
