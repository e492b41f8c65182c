public import Foundation
package import Records

/// A position in a change feed; opaque, kept by apps in an archive.
///
/// Only the server makes them. A database's token means nothing to a zone, and no order may be
/// inferred. See CS-35.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The token as the vocabulary spells it.
  package let value: ChangeToken

  /// Wraps a token that came from the server.
  package init(_ value: ChangeToken) { self.value = value }

  /// Whether `object` is the same position.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKServerChangeToken)?.value == value
  }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// How long the token is, and its checksum; not the token.
  public override var description: String {
    let sum = String(Checksum.of(value.bytes), radix: 16)
    return "<CKServerChangeToken: \(value.bytes.count) bytes, checksum \(sum)>"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }

  /// Itself: a token never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the token.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncChangeToken", with: coder) { $0.write(value.bytes) }
  }

  /// Reads the token back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let bytes = ArchivedBytes.decode("CloudSyncChangeToken", with: coder) {
      (reader) throws(ByteFormatError) in try reader.byteArray()
    }
    let value = bytes.map { ChangeToken(bytes: $0) } ?? ChangeToken(appleArchive: coder)
    guard let value else { return nil }
    self.init(value)
  }
}
