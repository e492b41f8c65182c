public import Foundation
import SyncSupport
import Synchronization

/// A contradiction that waits for a person.
public struct AnnotationConflict: Hashable, Sendable, Identifiable {
  /// A field that both sides changed, as text.
  public struct Field: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Before both edits; `nil` when it had no value, or nobody knows.
    public var ancestor: String?
    /// As this device has it.
    public var mine: String?
    /// As the cloud has it.
    public var theirs: String?
  }

  /// The item.
  public var id: UUID
  /// Its record type.
  public var recordType: String
  /// What both changed, by name; empty when the other edit removed the item for good.
  public var fields: [Field]
  /// Whether the other edit removed the item for good.
  public var isGoneThere: Bool
  /// When this device found out.
  public var since: Date
}

/// How a person decides.
public enum ConflictResolution: String, Hashable, Sendable, Codable, CaseIterable {
  /// This device's version stays and is sent.
  case mine
  /// The cloud's version replaces it.
  case theirs
  /// Words of both are kept, one after the other; of everything else the later edit's.
  case merged
}

/// Deciding what the strategy leaves to a person.
extension AnnotationStore {
  /// What waits for a person to decide, oldest first; kept on the disk.
  public var conflicts: [AnnotationConflict] {
    state.withLock { state in
      state.tables.items.values.compactMap { item in
        item.dispute.map { dispute in
          AnnotationConflict(
            id: item.id, recordType: item.kind.recordType,
            fields: dispute.fields.map { Self.field($0, item, dispute) },
            isGoneThere: dispute.isGoneThere, since: dispute.since)
        }
      }
    }.sorted { ($0.since, $0.id.uuidString) < ($1.since, $1.id.uuidString) }
  }

  /// Both versions of an annotation in conflict, for a person to look at; `nil` where a side has
  /// none.
  public func sides(of id: UUID) -> (mine: Annotation?, theirs: Annotation?)? {
    state.withLock { state in
      guard let item = state.tables.item(id, .annotation), item.dispute != nil else { return nil }
      return (
        item.annotation(media: media),
        item.cloud.flatMap { item.annotation(of: $0.fields, media: media) }
      )
    }
  }

  /// Ends a conflict as the person says; what is to be sent goes with the next sync.
  ///
  /// - Throws: `AnnotationError.notInConflict`, or `FileError` when it can't be written down.
  public func resolve(_ id: UUID, use resolution: ConflictResolution) throws {
    let date = moment()
    try transaction { tables in
      guard var item = tables.items[id], let dispute = item.dispute else {
        throw AnnotationError.notInConflict(id)
      }
      item.dispute = nil
      guard !dispute.isGoneThere else {
        if resolution == .theirs { tables.removeTree(id) } else { tables.putEdited(item) }
        return
      }
      let theirs = item.cloud?.fields ?? [:]
      var fields = item.fields
      switch resolution {
      case .mine: break
      case .theirs: for name in dispute.fields { fields[name] = theirs[name] }
      case .merged: Self.merge(&fields, theirs, dispute)
      }
      guard !Tables.saysTheSame(fields, theirs) else {
        item.mine = nil
        return tables.put(item, waits: nil)
      }
      // The decision is an edit of its own, later than both it decides between.
      let latest = max(
        item.fields.date("updatedAt") ?? .distantPast, theirs.date("updatedAt") ?? .distantPast)
      let decided = max(date, latest.addingTimeInterval(0.001))
      fields["updatedAt"] = .date(decided.timeIntervalSinceReferenceDate)
      item.mine = fields
      tables.putEdited(item)
    }
    sweepMedia()
  }

  private static func field(
    _ name: String, _ item: StoredItem, _ dispute: Dispute
  ) -> AnnotationConflict.Field {
    AnnotationConflict.Field(
      name: name, ancestor: dispute.ancestor?[name]?.plainText, mine: item.fields[name]?.plainText,
      theirs: item.cloud?.fields[name]?.plainText)
  }

  private static func merge(_ fields: inout Fields, _ theirs: Fields, _ dispute: Dispute) {
    let isMineLater =
      (fields.date("updatedAt") ?? .distantPast) > (theirs.date("updatedAt") ?? .distantPast)
    for name in dispute.fields {
      if let mine = fields.text(name), let other = theirs.text(name), name != "type" {
        let before = Set(
          dispute.ancestor?.text(name)?.split(separator: "\n").map(String.init) ?? [])
        // A title is one line, and stays one.
        let isLine = name == "title" || name == "name"
        fields[name] = .text(isLine ? mine + " / " + other : joined(mine, other, before))
      } else if !isMineLater {
        fields[name] = theirs[name]
      }
    }
  }

  /// The lines of one text, and then those of the other that are new in it.
  private static func joined(_ mine: String, _ theirs: String, _ before: Set<String>) -> String {
    let lines = mine.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let known = Set(lines).union(before)
    let added = theirs.split(separator: "\n").map(String.init).filter { !known.contains($0) }
    return (lines + added).joined(separator: "\n")
  }
}

extension FieldValue {
  /// The value for people.
  var plainText: String {
    switch self {
    case .text(let text): text
    case .whole(let number): "\(number)"
    case .number(let number): "\(number)"
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds).ISO8601Format()
    case .bytes(let data): "\(data.count) bytes"
    case .link(let name): name
    case .media(let name): "file " + name
    case .texts(let texts): texts.joined(separator: ", ")
    }
  }
}
