public import Foundation
public import SyncedStore

/// What an older version of the app kept in the key-value store, exported as one JSON file:
/// `tabs`, `clipboard`, and the tombstones `deletedTabIDs` and `deletedClipboardIDs`.
///
/// Dates are seconds since 2001 or ISO 8601. An entry that can't be read is counted and left out;
/// one bad entry must not keep the others from moving.
public struct KeyValueExport: Sendable, Hashable {
  /// A clipboard entry of the older store.
  public struct Entry: Sendable, Hashable {
    /// The entry's ID.
    public var id: UUID
    /// Its text.
    public var text: String
    /// When it was copied.
    public var timestamp: Date
  }

  /// The tabs, without those that have a tombstone.
  public private(set) var tabs: [ScratchTab] = []
  /// The clipboard entries, without those that have a tombstone.
  public private(set) var clipboard: [Entry] = []
  /// Tabs that were closed.
  public private(set) var deletedTabIDs: [UUID] = []
  /// Clipboard entries that were deleted.
  public private(set) var deletedClipboardIDs: [UUID] = []
  /// How many entries made no sense.
  public private(set) var unreadable = 0

  /// Reads an export.
  ///
  /// - Throws: ``KeyValueExportError`` when `data` is no such export at all.
  public init(_ data: Data) throws {
    guard let object = try? JSONSerialization.jsonObject(with: data),
      let export = object as? [String: Any],
      Self.keys.contains(where: { export[$0] is [Any] })
    else { throw KeyValueExportError() }
    deletedTabIDs = items(export["deletedTabIDs"], Self.id)
    deletedClipboardIDs = items(export["deletedClipboardIDs"], Self.id)
    let deleted = Set(deletedTabIDs + deletedClipboardIDs)
    tabs = items(export["tabs"], Self.tab).filter { !deleted.contains($0.id) }
    clipboard = items(export["clipboard"], Self.entry).filter { !deleted.contains($0.id) }
  }

  private static let keys = ["tabs", "clipboard", "deletedTabIDs", "deletedClipboardIDs"]

  private mutating func items<Item>(_ value: Any?, _ read: (Any) -> Item?) -> [Item] {
    let list = value as? [Any] ?? []
    let items = list.compactMap(read)
    unreadable += list.count - items.count
    return items
  }

  private static func id(_ value: Any?) -> UUID? {
    (value as? String).flatMap(UUID.init(uuidString:))
  }

  private static func tab(_ value: Any) -> ScratchTab? {
    guard let fields = value as? [String: Any], let id = id(fields["id"]),
      let name = fields["name"] as? String, let content = fields["content"] as? String,
      let lastModified = date(fields["lastModified"])
    else { return nil }
    let isLocked = (fields["languageLocked"] as? NSNumber)?.boolValue ?? false
    return ScratchTab(
      id: id, name: name, content: content, language: fields["language"] as? String ?? "plain",
      languageLocked: isLocked, lastModified: lastModified)
  }

  private static func entry(_ value: Any) -> Entry? {
    guard let fields = value as? [String: Any], let id = id(fields["id"]),
      let text = fields["text"] as? String, let timestamp = date(fields["timestamp"])
    else { return nil }
    return Entry(id: id, text: text, timestamp: timestamp)
  }

  private static func date(_ value: Any?) -> Date? {
    if let text = value as? String { return try? Date(text, strategy: .iso8601) }
    guard let seconds = (value as? NSNumber)?.doubleValue, seconds.isFinite else { return nil }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }
}

/// A file that is no export of the older store.
public struct KeyValueExportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The one error.
  public init() {}

  /// One sentence for people.
  public var description: String {
    "the file is not an export of the key-value store: it needs a list named tabs or clipboard"
  }
}

/// What moving in from the older store did.
public struct MigrationReport: Hashable, Sendable, Codable {
  /// Items that are new here.
  public var added = 0
  /// Items whose newer version was in the export.
  public var updated = 0
  /// Items removed because the export has a tombstone for them.
  public var removed = 0
  /// Whether it had been done before, so that nothing was done now.
  public var wasDoneBefore = false

  /// Nothing done yet.
  public init() {}
}

extension SyncedStore {
  /// Takes items of an older store over, unless a property says that it was done before.
  public func migrateOnce(
    _ property: String, _ body: (inout SyncedTransaction, inout MigrationReport) throws -> Void
  ) throws -> MigrationReport {
    try change { change in
      var report = MigrationReport()
      report.wasDoneBefore = change[property: property] != nil
      guard !report.wasDoneBefore else { return report }
      change[property: property] = "yes"
      try body(&change, &report)
      return report
    }
  }
}
