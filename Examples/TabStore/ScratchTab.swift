public import Foundation
import SyncSupport
public import SyncedStore

/// One tab of the editor.
///
/// A tab without a file is a scratch tab: its text is nowhere else, so it syncs. A tab that shows
/// a file stays on its device.
public struct ScratchTab: Identifiable, Hashable, Sendable, Codable {
  /// The tab's identity on every device, and its record's name.
  public let id: UUID
  /// The title.
  public var name: String
  /// The text.
  public var content: String
  /// The language the text is highlighted as, such as `swift` or `plain`.
  public var language: String
  /// Whether the person chose the language, so that it is not detected any more.
  public var languageLocked: Bool
  /// When it was changed last; a later version wins.
  public var lastModified: Date
  /// The file it shows, or `nil` for a scratch tab.
  public var fileURL: URL?

  /// Makes a tab; the date is cut to whole milliseconds, so every clock and format keeps it.
  public init(
    id: UUID, name: String, content: String, language: String = "plain",
    languageLocked: Bool = false, lastModified: Date, fileURL: URL? = nil
  ) {
    self.id = id
    self.name = name
    self.content = content
    self.language = language
    self.languageLocked = languageLocked
    self.lastModified = lastModified.roundedToMilliseconds
    self.fileURL = fileURL
  }

  /// Whether the tab has no file.
  public var isScratch: Bool { fileURL == nil }

  /// Whether both tabs have the same bytes: texts that only look the same are different.
  public static func == (first: ScratchTab, second: ScratchTab) -> Bool {
    first.id == second.id && first.lastModified == second.lastModified
      && first.fileURL == second.fileURL && first.bytes == second.bytes
  }

  /// Whether this version wins over `other`, the same tab's version on the server.
  ///
  /// The later date wins. At the same date the greater bytes win, which is the same on every
  /// device, whichever version is the device's own.
  public func wins(over other: ScratchTab) -> Bool {
    if lastModified != other.lastModified { return lastModified > other.lastModified }
    return other.bytes.lexicographicallyPrecedes(bytes)
  }

  /// Everything that can differ at the same date, each text with an end.
  private var bytes: [UInt8] {
    [content, name, language].flatMap { Array($0.utf8) + [0] } + [languageLocked ? 1 : 0]
  }

  /// Notes an edit at `now`.
  ///
  /// The date always moves forward, also on a device whose clock is behind: who edits a version
  /// has seen it, so the edit is newer.
  mutating func touch(_ now: Date) {
    let next = lastModified.addingTimeInterval(0.001).roundedToMilliseconds
    lastModified = max(now.roundedToMilliseconds, next)
  }
}

extension ScratchTab: SyncedItem {
  /// The type of the records of tabs.
  public static let recordType: CKRecord.RecordType = "ScratchTab"

  /// Tabs of files stay on their device.
  public var isSynced: Bool { isScratch }

  /// Reads a record; `nil` if it is not a tab that this version can show.
  ///
  /// That is so if its name is not a UUID, a field is of another type, or it is of a newer
  /// `schemaVersion`. A missing field has its default, which is the same on every device: the name
  /// "Untitled", no text, language `plain`, not locked, changed at the date of the record.
  public init?(_ record: CKRecord) {
    guard record.recordType == Self.recordType, record.schemaVersion <= 1,
      let id = UUID(uuidString: record.recordID.recordName),
      let name = record.value("name", missing: "Untitled"),
      let content = record.value("content", missing: ""),
      let language = record.value("language", missing: "plain"),
      let languageLocked = record.value("languageLocked", missing: 0 as Int64),
      let lastModified = record.value("lastModified", missing: record.dateInCloud)
    else { return nil }
    self.init(
      id: id, name: name, content: content, language: language, languageLocked: languageLocked != 0,
      lastModified: lastModified)
    // To the bit, as every device reads it.
    self.lastModified = lastModified
  }

  /// Copies the fields onto `record`; other fields of the record stay.
  public func copy(to record: CKRecord) {
    record["name"] = name
    record["content"] = content
    record["language"] = language
    record["languageLocked"] = languageLocked ? 1 : 0 as Int64
    record["lastModified"] = lastModified
  }
}

/// A tab as it is sent: without a file.
public typealias CloudTabRecord = ScratchTab
