public import CloudSync
public import Foundation
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
    self.lastModified = lastModified.inWholeMilliseconds
    self.fileURL = fileURL
  }

  /// The tab a record describes, with the record's date to the bit.
  init(_ record: CloudTabRecord) {
    self.id = record.id
    self.name = record.name
    self.content = record.content
    self.language = record.language
    self.languageLocked = record.languageLocked
    self.lastModified = record.lastModified
    self.fileURL = nil
  }

  /// Whether the tab has no file.
  public var isScratch: Bool { fileURL == nil }

  /// Whether both tabs hold the same bytes, which is stricter than that they read the same.
  public static func == (first: ScratchTab, second: ScratchTab) -> Bool {
    CloudTabRecord(first) == CloudTabRecord(second) && first.fileURL == second.fileURL
  }

  /// Notes an edit at `now`.
  ///
  /// The date always moves forward, also on a device whose clock is behind: who edits a version
  /// has seen it, so the edit is newer.
  mutating func touch(_ now: Date) {
    let next = lastModified.addingTimeInterval(0.001).inWholeMilliseconds
    lastModified = max(now.inWholeMilliseconds, next)
  }
}

extension ScratchTab: SyncedItem {
  /// The type of the records of tabs.
  public static let recordType: CKRecord.RecordType = "ScratchTab"

  /// Tabs of files stay on their device.
  public var isSynced: Bool { isScratch }

  /// Reads a record; `nil` if it is not a tab that this version can show.
  public init?(_ record: CKRecord) {
    guard let fields = CloudTabRecord(record) else { return nil }
    self.init(fields)
  }

  /// Copies the fields onto `record`; other fields of the record stay.
  public func copy(to record: CKRecord) {
    CloudTabRecord(self).copy(onto: record)
  }
}

extension Date {
  /// The date without fractions of a millisecond.
  var inWholeMilliseconds: Date {
    let milliseconds = (timeIntervalSinceReferenceDate * 1_000).rounded()
    return Date(timeIntervalSinceReferenceDate: milliseconds / 1_000)
  }
}
