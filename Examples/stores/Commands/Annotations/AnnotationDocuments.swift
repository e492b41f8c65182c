import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

/// A layer as `--json` shows it.
struct LayerDocument: Encodable {
  var id: UUID
  var name: String
  var annotations: Int
  var isOwn: Bool
  var mayWrite: Bool
  var url: String?
  var people: [LayerParticipant]
  var status: String

  init(_ layer: Layer, _ store: AnnotationStore) {
    id = layer.id
    name = layer.name
    annotations = store.annotations(on: layer.id).count
    isOwn = store.isOwn(layer.id)
    mayWrite = store.mayWrite(layer.id)
    url = store.shareURL(of: layer.id)?.absoluteString
    people = store.participants(of: layer.id)
    status = layer.syncStatus.rawValue
  }

  /// Whose it is and who sees it, in words.
  var sharing: String {
    guard isOwn else { return mayWrite ? "shared with you" : "shared with you to read" }
    return url == nil ? "yours" : "yours, shared with \(count(max(0, people.count - 1), "guest"))"
  }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init("\(id)", .dim), .init("\(mark(status)) \(name)", style(status)),
      "\(annotations)", .init(sharing, .dim),
    ]
  }
}

/// An annotation as `--json` shows it.
struct AnnotationDocument: Encodable {
  var id: UUID
  var type: String
  var title: String?
  var text: String?
  var position: [Float]
  var scale: Float
  var layer: UUID
  var owner: String
  var created: Date
  var updated: Date
  var media: String?
  var status: String
  var comments: [String]?

  init(_ annotation: Annotation, comments: [Comment]? = nil) {
    id = annotation.id
    type = annotation.type.rawValue
    title = annotation.title
    text = comments == nil ? nil : annotation.content.text
    position = [annotation.position.x, annotation.position.y, annotation.position.z]
    scale = annotation.scale
    layer = annotation.layerID
    owner = annotation.ownerID
    created = annotation.createdAt
    updated = annotation.updatedAt
    media = annotation.content.mediaURL?.path
    status = annotation.syncStatus.rawValue
    self.comments = comments?.map(\.text)
  }

  /// Where it is, in words.
  var place: String { position.map { "\($0)" }.joined(separator: ",") }

  /// One line for people.
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init("\(id)", .dim), .init(type, .dim),
      .init("\(mark(status)) \(title ?? "(no title)")", style(status)),
      .init("at \(place)\(media == nil ? "" : ", with a file")", .dim),
    ]
  }

  /// Everything, over several lines.
  var page: String {
    var lines = [
      "\(printable(title ?? "(no title)"))  \(type), \(status)",
      "at \(place), scale \(scale)", "layer \(layer)",
      "changed \(timestamp(updated))",
    ]
    if let media { lines.append("file \(printable(media))") }
    if let text, !text.isEmpty {
      lines += [""] + text.split(separator: "\n", omittingEmptySubsequences: false).map(printable)
    }
    if let comments, !comments.isEmpty { lines += [""] + comments.map { "- \(printable($0))" } }
    return lines.joined(separator: "\n")
  }
}

/// A conflict as `--json` shows it.
struct ConflictDocument: Encodable {
  struct Field: Encodable {
    var name: String
    var before: String?
    var mine: String?
    var theirs: String?
  }

  var id: UUID
  var type: String
  var since: Date
  var removedThere: Bool
  var fields: [Field]

  init(_ conflict: AnnotationConflict) {
    id = conflict.id
    type = conflict.recordType
    since = conflict.since
    removedThere = conflict.isGoneThere
    fields = conflict.fields.map {
      Field(name: $0.name, before: $0.ancestor, mine: $0.mine, theirs: $0.theirs)
    }
  }

  /// A line for each field, for people.
  var words: String {
    func said(_ text: String?) -> String { text.map(quoted) ?? "nothing" }
    let head = "\(id)  \(type)"
    guard !removedThere else { return head + "\n  removed elsewhere, changed here" }
    return
      ([head]
      + fields.map {
        "  \($0.name): mine \(said($0.mine)), theirs \(said($0.theirs)), before \(said($0.before))"
      }).joined(separator: "\n")
  }
}

/// Where sync of the annotations stands, as `--json` shows it.
struct AnnotationsStatusDocument: SyncReport {
  var layers: Int
  var annotations: Int
  var comments: Int
  var waiting: Int
  var conflicts: Int
  var orphans: Int
  var refused: [AnnotationRefusal]
  var unreadable: Int
  var strategy: String
  var link: String
  var lastSync: Date?

  init(_ app: AnnotationsApp) {
    let store = app.store
    layers = store.layers.count
    annotations = store.annotations().count
    comments = store.comments().count
    waiting = store.waitingCount
    conflicts = store.conflicts.count
    orphans = store.orphans.count
    refused = store.refusals
    unreadable = store.unreadableCount
    strategy = "\(store.strategy)"
    link = app.network.rawValue
    lastSync = store.lastSyncTime
  }

  var words: String {
    var parts = [
      "annotations: \(count(annotations, "annotation")) on \(count(layers, "layer"))",
      "\(waiting) waiting",
    ]
    if conflicts > 0 { parts.append("\(count(conflicts, "conflict")) for you to decide") }
    if !refused.isEmpty { parts.append("\(refused.count) refused") }
    return parts.joined(separator: ", ")
  }
}

/// The sign before what is not in the cloud as it is here.
private func mark(_ status: String) -> String {
  switch SyncItemStatus(rawValue: status) {
  case .synced, nil: " "
  case .pendingUpload, .pendingDelete: "*"
  case .conflict, .error: "!"
  }
}

private func style(_ status: String) -> Style {
  switch SyncItemStatus(rawValue: status) {
  case .synced, nil: .plain
  case .pendingUpload, .pendingDelete: .yellow
  case .conflict, .error: .red
  }
}
