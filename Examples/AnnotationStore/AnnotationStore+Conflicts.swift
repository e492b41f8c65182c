public import Foundation
import Synchronization

/// A contradiction that the user has to decide.
public struct AnnotationConflict: Hashable, Sendable, Identifiable {
  /// A field that both sides changed, as text; `nil` is a field without a value.
  public struct Field: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// The value before both edits; `nil` also if it is not known.
    public var ancestor: String?
    /// The value on this device.
    public var mine: String?
    /// The value on the server.
    public var theirs: String?
  }

  /// The item.
  public var id: UUID
  /// Its record type.
  public var recordType: String
  /// The fields that both changed; empty if the other edit removed the item permanently.
  public var fields: [Field]
  /// Whether the other edit removed the item permanently.
  public var isGoneThere: Bool
  /// The date when this device detected it.
  public var since: Date
}

/// The user's decision about a conflict.
public enum ConflictResolution: String, Hashable, Sendable, Codable, CaseIterable {
  /// This device's version stays and is sent.
  case mine
  /// The server's version replaces it.
  case theirs
  /// The text of both is kept; of other fields the later edit's value.
  case merged
}

/// Conflicts that the strategy leaves to the user.
extension AnnotationStore {
  /// The stored conflicts, oldest first.
  public var conflicts: [AnnotationConflict] {
    state.withLock { state in
      state.tables.items.values.compactMap { item in
        item.dispute.map { dispute in
          let fields = dispute.fields.map { name in
            AnnotationConflict.Field(
              name: name, ancestor: dispute.ancestor?[name]?.plainText,
              mine: item.fields[name]?.plainText, theirs: item.cloud?.fields[name]?.plainText)
          }
          return AnnotationConflict(
            id: item.id, recordType: item.kind.rawValue, fields: fields,
            isGoneThere: dispute.isGoneThere, since: dispute.since)
        }
      }
    }.sorted { ($0.since, $0.id.uuidString) < ($1.since, $1.id.uuidString) }
  }

  /// Both versions of an annotation in conflict; `nil` for a side without one.
  public func sides(of id: UUID) -> (mine: Annotation?, theirs: Annotation?)? {
    state.withLock { state in
      guard let item = state.tables.item(id, .annotation), item.dispute != nil else { return nil }
      return (view(item), item.cloud.flatMap { view(item, of: $0.fields) })
    }
  }

  /// Ends a conflict; the next sync sends the result.
  ///
  /// - Throws: `AnnotationError.notInConflict`, or `FileError` if it can't be stored.
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
      guard !fields.saysTheSame(as: theirs) else {
        item.mine = nil
        return tables.put(item, waits: nil)
      }
      // The decision is an edit, later than both that it decides between.
      let latest = max(item.fields.updatedAt, theirs.updatedAt)
      fields.updatedAt = max(date, latest.addingTimeInterval(0.001))
      item.mine = fields
      tables.putEdited(item)
    }
  }

  private static func merge(_ fields: inout Fields, _ theirs: Fields, _ dispute: Dispute) {
    let isMineLater = fields.updatedAt > theirs.updatedAt
    for name in dispute.fields {
      if let mine = fields[text: name], let other = theirs[text: name], name != "type" {
        // A title is one line, and stays one.
        let isLine = name == "title" || name == "name"
        fields[text: name] =
          isLine
          ? mine + " / " + other : joined(mine, other, dispute.ancestor?[text: name] ?? "")
      } else if !isMineLater {
        fields[name] = theirs[name]
      }
    }
  }

  /// The lines of one text, and those that are new in the other.
  private static func joined(_ mine: String, _ theirs: String, _ before: String) -> String {
    let lines = mine.split(separator: "\n", omittingEmptySubsequences: false)
    let known = Set(lines).union(before.split(separator: "\n"))
    let added = theirs.split(separator: "\n").filter { !known.contains($0) }
    return (lines + added).joined(separator: "\n")
  }
}
