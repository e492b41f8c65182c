public import Foundation
package import Records

/// A position in a change feed; opaque, kept by apps in an archive.
///
/// Only the server creates tokens. A database's token is not valid for a zone, and no order may be
/// inferred. See CS-35.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The token as a value.
  package let value: ChangeToken

  /// Wraps a token of the server.
  package init(_ value: ChangeToken) { self.value = value }

  /// Whether `object` is an equal token.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKServerChangeToken)?.value == value
  }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The token's length and checksum, not its bytes.
  public override var description: String {
    let sum = String(Checksum.of(value.bytes), radix: 16)
    return "<CKServerChangeToken: \(value.bytes.count) bytes, checksum \(sum)>"
  }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the token.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncChangeToken", with: coder) { $0.write(value.bytes) }
  }

  /// Decodes a token; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let bytes = ArchivedBytes.decode("CloudSyncChangeToken", with: coder) { try $0.byteArray() }
    let value = bytes.map { ChangeToken(bytes: $0) } ?? ChangeToken(appleArchive: coder)
    guard let value else { return nil }
    self.init(value)
  }
}
