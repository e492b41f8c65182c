public import Foundation
import SyncSupport
public import SyncedStore

/// One thing that was copied, which never changes.
public struct ClipboardEntry: Identifiable, Hashable, Sendable, Codable {
  /// What was copied.
  public enum Content: Hashable, Sendable, Codable {
    /// Text; it syncs.
    case text(String)
    /// An image, by the name of its file; it stays on the device that copied it.
    case image(fileName: String)
  }

  /// The entry's identity on every device, and its record's name.
  public let id: UUID
  /// What was copied.
  public let content: Content
  /// When it was copied.
  public let timestamp: Date

  /// Makes an entry.
  public init(id: UUID, content: Content, timestamp: Date) {
    self.id = id
    self.content = content
    self.timestamp = timestamp
  }

  /// Makes an entry of text.
  public init(id: UUID, text: String, timestamp: Date) {
    self.init(id: id, content: .text(text), timestamp: timestamp)
  }

  /// The text, or `nil` for an image.
  public var text: String? {
    switch content {
    case .text(let text): text
    case .image: nil
    }
  }

  /// Whether the entry syncs.
  public var isText: Bool { text != nil }

  /// Whether this entry is shown above `other`: newer first, and at the same time the greater ID,
  /// so that every device drops the same entries when there are too many.
  func isAbove(_ other: ClipboardEntry) -> Bool {
    if timestamp != other.timestamp { return timestamp > other.timestamp }
    return other.id.precedes(id)
  }
}

extension ClipboardEntry: SyncedItem {
  /// The type of the records of entries.
  public static let recordType: CKRecord.RecordType = "ClipboardEntry"

  /// Images stay on their device.
  public var isSynced: Bool { isText }

  /// Reads a record; `nil` if it is not an entry that this version can show.
  ///
  /// That is so if its name is not a UUID, it has no text (it is of a kind that a newer version
  /// knows, such as an image), or it is of a newer `schemaVersion`. A missing time is the date of
  /// the record, the same on every device.
  public init?(_ record: CKRecord) {
    guard record.recordType == Self.recordType, record.schemaVersion <= 1,
      let id = UUID(uuidString: record.recordID.recordName), let text = record["text"] as? String,
      let timestamp = record.value("timestamp", missing: record.dateInCloud)
    else { return nil }
    self.init(id: id, text: text, timestamp: timestamp)
  }

  /// Copies the fields of a text onto `record`.
  public func copy(to record: CKRecord) {
    record["text"] = text
    record["timestamp"] = timestamp
  }

  /// Whether both have the same bytes: texts that only look the same are different.
  public static func == (first: ClipboardEntry, second: ClipboardEntry) -> Bool {
    first.id == second.id && first.timestamp == second.timestamp && first.isText == second.isText
      && first.name.hasSameBytes(as: second.name)
  }

  private var name: String {
    switch content {
    case .text(let name), .image(let name): name
    }
  }
}

/// An entry as it is sent: a text.
public typealias CloudClipboardRecord = ClipboardEntry
