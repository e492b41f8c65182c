public import CloudSync
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
  public init?(_ record: CKRecord) {
    guard let fields = CloudClipboardRecord(record) else { return nil }
    self.init(id: fields.id, text: fields.text, timestamp: fields.timestamp)
  }

  /// Copies the fields of a text onto `record`.
  public func copy(to record: CKRecord) {
    CloudClipboardRecord(self)?.copy(onto: record)
  }

  /// Whether both have the same bytes: texts that only look the same are different.
  public static func == (first: ClipboardEntry, second: ClipboardEntry) -> Bool {
    let isSameContent =
      switch (first.content, second.content) {
      case (.text(let text), .text(let other)): text.hasSameBytes(as: other)
      case (.image(let name), .image(let other)): name.hasSameBytes(as: other)
      case (.text, .image), (.image, .text): false
      }
    return isSameContent && first.id == second.id && first.timestamp == second.timestamp
  }
}

/// The fields of an entry that are sent: those of a `ClipboardEntry` record.
public struct CloudClipboardRecord: Identifiable, Hashable, Sendable, Codable {
  /// The entry's ID; the record's name.
  public let id: UUID
  /// The text.
  public var text: String
  /// When it was copied.
  public var timestamp: Date

  /// The fields of `entry` that are sent; `nil` for an image.
  public init?(_ entry: ClipboardEntry) {
    guard let text = entry.text else { return nil }
    self.id = entry.id
    self.text = text
    self.timestamp = entry.timestamp
  }

  /// Reads a record; `nil` when it is no entry that this version can show.
  ///
  /// That is so when its name is no UUID, it has no text (it is of a kind that a newer version
  /// knows, such as an image), or it is of a newer `schemaVersion`. A missing time is the one the
  /// cloud saw it last, the same on every device.
  public init?(_ record: CKRecord) {
    guard record.recordType == ClipboardEntry.recordType,
      record.schemaVersion <= 1,
      let id = UUID(uuidString: record.recordID.recordName),
      let text = record["text"] as? String,
      let timestamp = record.value("timestamp", missing: record.dateInCloud)
    else { return nil }
    self.id = id
    self.text = text
    self.timestamp = timestamp
  }

  /// Copies the fields onto `record`.
  public func copy(onto record: CKRecord) {
    record["text"] = text
    record["timestamp"] = timestamp
  }

  /// Whether both hold the same bytes.
  public static func == (first: CloudClipboardRecord, second: CloudClipboardRecord) -> Bool {
    first.id == second.id && first.timestamp == second.timestamp
      && first.text.hasSameBytes(as: second.text)
  }
}
