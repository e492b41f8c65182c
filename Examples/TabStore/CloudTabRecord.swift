public import CloudSync
public import Foundation
import SyncSupport

/// The fields of a tab that are sent: those of a `ScratchTab` record.
public struct CloudTabRecord: Identifiable, Hashable, Sendable, Codable {
  /// The tab's ID; the record's name.
  public let id: UUID
  /// The title.
  public var name: String
  /// The text.
  public var content: String
  /// The language.
  public var language: String
  /// Whether the person chose the language.
  public var languageLocked: Bool
  /// When it was changed last.
  public var lastModified: Date

  /// The fields of `tab` that are sent.
  public init(_ tab: ScratchTab) {
    self.id = tab.id
    self.name = tab.name
    self.content = tab.content
    self.language = tab.language
    self.languageLocked = tab.languageLocked
    self.lastModified = tab.lastModified
  }

  /// Reads a record; `nil` when it is no tab that this version can show.
  ///
  /// That is so when its name is no UUID, a field is of another type, or it is of a newer
  /// `schemaVersion`. A missing field has its default, which is the same on every device: the name
  /// "Untitled", no text, language `plain`, not locked, changed when the cloud saw it last.
  public init?(_ record: CKRecord) {
    guard record.recordType == ScratchTab.recordType,
      record.schemaVersion <= 1,
      let id = UUID(uuidString: record.recordID.recordName),
      let name = record.value("name", missing: "Untitled"),
      let content = record.value("content", missing: ""),
      let language = record.value("language", missing: "plain"),
      let languageLocked = record.value("languageLocked", missing: 0 as Int64),
      let lastModified = record.value("lastModified", missing: record.dateInCloud)
    else { return nil }
    self.id = id
    self.name = name
    self.content = content
    self.language = language
    self.languageLocked = languageLocked != 0
    self.lastModified = lastModified
  }

  /// Copies the fields onto `record`; fields a newer version of the app may have put there stay.
  public func copy(onto record: CKRecord) {
    record["name"] = name
    record["content"] = content
    record["language"] = language
    record["languageLocked"] = languageLocked ? 1 : 0 as Int64
    record["lastModified"] = lastModified
  }

  /// Whether this version wins over `other`, the same tab's version from elsewhere.
  ///
  /// The later date wins. At the same date the greater bytes win, which every device sees alike;
  /// which device holds which version plays no part.
  public func wins(over other: CloudTabRecord) -> Bool {
    if lastModified != other.lastModified { return lastModified > other.lastModified }
    return other.tieBreak.lexicographicallyPrecedes(tieBreak)
  }

  /// Everything that can differ at the same date, as bytes; the lengths keep fields apart.
  private var tieBreak: [UInt8] {
    var bytes: [UInt8] = []
    for text in [content, name, language] {
      bytes.append(contentsOf: text.utf8)
      bytes.append(0)
    }
    bytes.append(languageLocked ? 1 : 0)
    return bytes
  }

  /// Whether both hold the same bytes.
  ///
  /// Texts that only read the same are different, as they are in the cloud.
  public static func == (first: CloudTabRecord, second: CloudTabRecord) -> Bool {
    first.id == second.id && first.lastModified == second.lastModified
      && first.languageLocked == second.languageLocked
      && first.name.hasSameBytes(as: second.name)
      && first.content.hasSameBytes(as: second.content)
      && first.language.hasSameBytes(as: second.language)
  }
}
