import AnnotationStore
import CommandLineKit
import Foundation
import SyncSupport

extension SyncItemStatus {
  /// The mark in front of an item, and its style.
  fileprivate var mark: (text: String, style: Style) {
    switch self {
    case .synced: (" ", .plain)
    case .pendingUpload, .pendingDelete: ("*", .yellow)
    case .conflict, .error: ("!", .red)
    }
  }
}

extension Row {
  init(_ layer: Layer, _ store: AnnotationStore) {
    let (mark, style) = layer.syncStatus.mark
    let annotations = store.annotations(on: layer.id).count
    let (isOwn, mayWrite) = (store.isOwn(layer.id), store.mayWrite(layer.id))
    let url = store.shareURL(of: layer.id)?.absoluteString
    let people = store.participants(of: layer.id)
    let guests = count(max(0, people.count - 1), "guest")
    let sharing =
      if isOwn { url == nil ? "yours" : "yours, shared with \(guests)" } else {
        mayWrite ? "shared with you" : "shared with you to read"
      }
    self.init(
      [
        "id": layer.id, "name": layer.name, "annotations": annotations, "isOwn": isOwn,
        "mayWrite": mayWrite, "url": url, "people": people, "status": layer.syncStatus.rawValue,
      ],
      [
        .init("\(layer.id)", .dim), .init("\(mark) \(layer.name)", style), "\(annotations)",
        .init(sharing, .dim),
      ])
  }

  init(_ annotation: Annotation) {
    let (mark, style) = annotation.syncStatus.mark
    let media = annotation.content.mediaURL?.path
    let position = [annotation.position.x, annotation.position.y, annotation.position.z]
    self.init(
      [
        "id": annotation.id, "type": annotation.type.rawValue, "title": annotation.title,
        "position": position, "scale": annotation.scale, "layer": annotation.layerID,
        "owner": annotation.ownerID, "created": annotation.createdAt,
        "updated": annotation.updatedAt, "media": media,
        "status": annotation.syncStatus.rawValue,
      ],
      [
        .init("\(annotation.id)", .dim), .init(annotation.type.rawValue, .dim),
        .init("\(mark) \(annotation.title ?? "(no title)")", style),
        .init("at \(annotation.place)\(media == nil ? "" : ", with a file")", .dim),
      ])
  }

  /// A conflict as it is shown: a cell for each line of text.
  init(_ conflict: AnnotationConflict) {
    func said(_ text: String?) -> String { text.map(quoted) ?? "nothing" }
    let fields = conflict.fields.map { field -> Document in
      [
        "name": field.name, "before": field.ancestor, "mine": field.mine,
        "theirs": field.theirs,
      ]
    }
    let lines = conflict.fields.map {
      "  \($0.name): mine \(said($0.mine)), theirs \(said($0.theirs)), before \(said($0.ancestor))"
    }
    let isGone = conflict.isGoneThere
    self.init(
      [
        "id": conflict.id, "type": conflict.recordType, "since": conflict.since,
        "removedThere": isGone, "fields": fields,
      ],
      (["\(conflict.id)  \(conflict.recordType)"]
        + (isGone ? ["  removed elsewhere, changed here"] : lines)).map { Table.Cell($0) })
  }
}

extension Annotation {
  /// The position, as `--at` reads it.
  fileprivate var place: String {
    [position.x, position.y, position.z].map { "\($0)" }.joined(separator: ",")
  }

  /// All of the annotation and its comments in lines of text.
  func page(_ comments: [String]) -> String {
    var lines = [
      "\(printable(title ?? "(no title)"))  \(type.rawValue), \(syncStatus.rawValue)",
      "at \(place), scale \(scale)", "layer \(layerID)", "changed \(timestamp(updatedAt))",
    ]
    if let media = content.mediaURL?.path { lines.append("file \(printable(media))") }
    if !content.text.isEmpty {
      let text = content.text.split(separator: "\n", omittingEmptySubsequences: false)
      lines += [""] + text.map(printable)
    }
    if !comments.isEmpty { lines += [""] + comments.map { "- \(printable($0))" } }
    return lines.joined(separator: "\n")
  }
}

extension AnnotationsApp {
  var syncWords: String {
    let conflicts = store.conflicts.count
    var parts = [
      "annotations: \(count(store.annotations().count, "annotation")) on "
        + count(store.layers.count, "layer"),
      "\(store.waitingCount) waiting",
    ]
    if conflicts > 0 { parts.append("\(count(conflicts, "conflict")) for you to decide") }
    if !store.refusals.isEmpty { parts.append("\(store.refusals.count) refused") }
    return parts.joined(separator: ", ")
  }

  var status: SyncReport {
    let (orphans, unreadable) = (store.orphans.count, store.unreadableCount)
    let refusals = store.refusals.map { "refused: \($0.id) \($0.message)" }
    return SyncReport([
      ("layers", store.layers.count, syncWords),
      ("annotations", store.annotations().count, nil),
      ("comments", store.comments().count, nil),
      ("waiting", store.waitingCount, nil),
      ("conflicts", store.conflicts.count, nil),
      ("strategy", "\(store.strategy)", "strategy: \(store.strategy), link: \(network.rawValue)"),
      ("link", network.rawValue, nil),
      ("lastSync", store.lastSyncTime, lastSyncLine(store.lastSyncTime)),
      (
        "orphans", orphans,
        orphans > 0 ? "\(count(orphans, "annotation")) without a layer: see list --orphans" : nil
      ),
      (
        "unreadable", unreadable,
        unreadable > 0
          ? "\(count(unreadable, "record")) of a newer version, kept and not shown" : nil
      ),
      ("refused", store.refusals, refusals.isEmpty ? nil : refusals.joined(separator: "\n")),
    ])
  }
}
