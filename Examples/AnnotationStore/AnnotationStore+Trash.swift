public import Foundation
import SyncSupport
import Synchronization

/// Deleting is marking: the mark travels like any edit, and can be taken back.
extension AnnotationStore {
  /// Puts an annotation into the trash, on all devices.
  ///
  /// - Throws: `AnnotationError` when it is not there or only to be read; `FileError` when it can't
  ///   be written down.
  public func deleteAnnotation(_ id: UUID) throws {
    try transaction { tables in
      var item = try writable(id, .annotation, tables)
      change(&item, to: ["isDeleted": .whole(1)], &tables)
    }
  }

  /// Puts a comment into the trash, on all devices.
  ///
  /// - Throws: as ``deleteAnnotation(_:)``.
  public func deleteComment(_ id: UUID) throws {
    try transaction { tables in
      var item = try writable(id, .comment, tables)
      change(&item, to: ["isDeleted": .whole(1)], &tables)
    }
  }

  /// Puts a layer and its annotations into the trash, on all devices.
  ///
  /// An annotation that somebody adds to it meanwhile on another device is not lost: it appears in
  /// ``orphans``.
  /// - Throws: `AnnotationError.notOwner` for a layer that somebody else shared; else as
  ///   ``deleteAnnotation(_:)``.
  public func deleteLayer(_ id: UUID) throws {
    try transaction { tables in
      guard var layer = tables.item(id, .layer) else { throw AnnotationError.notFound(id) }
      guard layer.owner == nil else { throw AnnotationError.notOwner(id) }
      change(&layer, to: ["isDeleted": .whole(1)], &tables)
      for child in tables.childIDs(of: id) {
        guard var item = tables.item(child, .annotation), item.isReadable, item.owner == nil else {
          continue
        }
        change(&item, to: ["isDeleted": .whole(1)], &tables)
      }
    }
  }

  /// Takes something out of the trash; a layer with the annotations that went with it.
  ///
  /// - Throws: as ``deleteAnnotation(_:)``.
  public func restore(_ id: UUID) throws {
    try transaction { tables in
      guard let kind = tables.items[id]?.kind else { throw AnnotationError.notFound(id) }
      var item = try writable(id, kind, tables)
      let deleted = item.fields.date("updatedAt") ?? .distantPast
      change(&item, to: ["isDeleted": .whole(0)], &tables)
      guard kind == .layer else { return }
      for child in tables.childIDs(of: id) {
        // What was in the trash before the layer went there stays in it.
        guard var item = tables.item(child, .annotation), item.isReadable,
          (item.fields.date("updatedAt") ?? .distantPast) >= deleted
        else { continue }
        change(&item, to: ["isDeleted": .whole(0)], &tables)
      }
    }
  }

  /// Removes for good what lies in the trash for longer than `age` seconds, here and in the cloud.
  ///
  /// What somebody else owns stays, and so does a layer under which something is not in the trash.
  /// - Returns: how many items go.
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func emptyTrash(olderThan age: TimeInterval) throws -> Int {
    let limit = surroundings.now().addingTimeInterval(-age)
    return try transaction { tables in
      let roots = tables.items.values.filter { item in
        item.owner == nil && !item.isPurged && item.isReadable && item.fields.isDeleted
          && (item.fields.date("updatedAt") ?? .distantPast) < limit
      }.map(\.id).sorted { $0.uuidString < $1.uuidString }
      var gone: Set<UUID> = []
      for root in roots where mayGo(root, limit, tables) { purge(root, &tables, &gone) }
      return gone.count
    }
  }

  /// Moves an annotation to another layer; over to another person's layer it goes as a copy with a
  /// new name, and the original goes to the trash.
  ///
  /// - Returns: the annotation on its new layer.
  /// - Throws: as ``deleteAnnotation(_:)``.
  @discardableResult
  public func move(_ id: UUID, to layer: UUID) throws -> Annotation {
    let date = moment()
    return try transaction { tables in
      let target = try writable(layer, .layer, tables)
      var item = try writable(id, .annotation, tables)
      guard item.owner != target.owner else {
        change(&item, to: ["layerID": .link(layer.uuidString)], &tables)
        guard let moved = item.annotation(media: media) else { throw AnnotationError.notFound(id) }
        return moved
      }
      // A record can't leave its zone, and two accounts never share one.
      let copy = copied(item, under: ("layerID", layer), in: target.owner, date)
      tables.putEdited(copy)
      for child in tables.childIDs(of: id) {
        guard let comment = tables.item(child, .comment), tables.isShown(comment) else { continue }
        tables.putEdited(copied(comment, under: ("annotationID", copy.id), in: target.owner, date))
      }
      change(&item, to: ["isDeleted": .whole(1)], &tables)
      guard let moved = copy.annotation(media: media) else { throw AnnotationError.notFound(id) }
      return moved
    }
  }

  private func copied(
    _ item: StoredItem, under parent: (field: String, id: UUID), in owner: String?, _ date: Date
  ) -> StoredItem {
    let id = surroundings.makeID()
    var fields = item.fields
    fields["id"] = .text(id.uuidString)
    fields[parent.field] = .link(parent.id.uuidString)
    fields["updatedAt"] = .date(date.timeIntervalSinceReferenceDate)
    fields["isDeleted"] = .whole(0)
    return StoredItem(id: id, kind: item.kind, owner: owner, mine: fields)
  }

  /// Whether an item and all that hangs under it may go for good.
  private func mayGo(_ id: UUID, _ limit: Date, _ tables: Tables) -> Bool {
    tables.childIDs(of: id).allSatisfy { child in
      guard let item = tables.items[child] else { return true }
      // A comment has no say of its own: it goes with its annotation.
      return (item.fields.isDeleted || item.kind == .comment) && item.dispute == nil
        && mayGo(child, limit, tables)
    }
  }

  private func purge(_ id: UUID, _ tables: inout Tables, _ gone: inout Set<UUID>) {
    guard gone.insert(id).inserted, var item = tables.items[id] else { return }
    for child in tables.childIDs(of: id) { purge(child, &tables, &gone) }
    item.isPurged = true
    item.dispute = nil
    if item.cloud == nil { tables.remove(id) } else { tables.putEdited(item, .delete) }
  }
}
