public import Foundation
import SyncSupport
import Synchronization

/// Deletion: a mark that syncs like every other edit and can be taken back.
extension AnnotationStore {
  /// Puts an annotation into the trash, on all devices.
  ///
  /// - Throws: `AnnotationError` if it is not here or read-only; `FileError` if it can't be stored.
  public func deleteAnnotation(_ id: UUID) throws {
    try change(id, .annotation) { $0.isDeleted = true }
  }

  /// Puts a comment into the trash, on all devices.
  ///
  /// - Throws: as ``deleteAnnotation(_:)``.
  public func deleteComment(_ id: UUID) throws {
    try change(id, .comment) { $0.isDeleted = true }
  }

  /// Puts a layer and its annotations into the trash, on all devices.
  ///
  /// An annotation that another device adds to it meanwhile appears in ``orphans``.
  /// - Throws: `AnnotationError.notOwner` for another user's layer; else as
  ///   ``deleteAnnotation(_:)``.
  public func deleteLayer(_ id: UUID) throws {
    try transaction { tables in
      guard var layer = tables.item(id, .layer) else { throw AnnotationError.notFound(id) }
      guard layer.owner == nil else { throw AnnotationError.notOwner(id) }
      change(&layer, &tables) { $0.isDeleted = true }
      follow(layer, &tables) { _ in true }
    }
  }

  /// Takes an item out of the trash; a layer with the annotations that were deleted with it.
  ///
  /// - Throws: as ``deleteAnnotation(_:)``.
  public func restore(_ id: UUID) throws {
    try transaction { tables in
      guard let kind = tables.items[id]?.kind else { throw AnnotationError.notFound(id) }
      var item = try writable(id, kind, tables)
      guard item.fields.isDeleted else { return }
      let deleted = item.fields.updatedAt
      change(&item, &tables) { $0.isDeleted = false }
      // Annotations that were in the trash before the layer stay there.
      if kind == .layer { follow(item, &tables) { $0.updatedAt >= deleted } }
    }
  }

  /// Deletes or restores the annotations of a layer like the layer, with a date that is not before
  /// the layer's.
  private func follow(_ layer: StoredItem, _ tables: inout Tables, if isMeant: (Fields) -> Bool) {
    let (date, isDeleted) = (layer.fields.updatedAt, layer.fields.isDeleted)
    for child in tables.childIDs(of: layer.id) {
      guard var item = tables.item(child, .annotation), item.isReadable,
        item.owner == layer.owner, isMeant(item.fields)
      else { continue }
      change(&item, &tables, since: date) { $0.isDeleted = isDeleted }
    }
  }

  /// Removes own items permanently, here and on the server, that are in the trash for longer than
  /// `age` seconds.
  ///
  /// A layer with an item that is not in the trash stays.
  /// - Returns: the number of removed items.
  /// - Throws: `FileError` if it can't be stored.
  @discardableResult
  public func emptyTrash(olderThan age: TimeInterval) throws -> Int {
    let limit = now().addingTimeInterval(-age)
    return try transaction { tables in
      let roots = tables.items.values.filter { item in
        item.owner == nil && !item.isPurged && item.isReadable && item.fields.isDeleted
          && item.fields.updatedAt < limit
      }.map(\.id).sorted { $0.precedes($1) }
      var gone: Set<UUID> = []
      for root in roots where mayGo(root, tables) { purge(root, &tables, &gone) }
      return gone.count
    }
  }

  /// Whether all children of an item may be removed permanently.
  private func mayGo(_ id: UUID, _ tables: Tables) -> Bool {
    tables.childIDs(of: id).allSatisfy { child in
      guard let item = tables.items[child] else { return true }
      // A comment is removed with its annotation.
      return (item.fields.isDeleted || item.kind == .comment) && item.dispute == nil
        && mayGo(child, tables)
    }
  }

  private func purge(_ id: UUID, _ tables: inout Tables, _ gone: inout Set<UUID>) {
    guard gone.insert(id).inserted else { return }
    for child in tables.childIDs(of: id) { purge(child, &tables, &gone) }
    tables.purge(id)
  }

  /// Moves an annotation to another layer; to a layer of another owner as a copy with a new ID, and
  /// the original is put into the trash.
  ///
  /// - Returns: the annotation on its new layer.
  /// - Throws: as ``deleteAnnotation(_:)``.
  @discardableResult
  public func move(_ id: UUID, to layer: UUID) throws -> Annotation {
    let date = moment()
    return try transaction { tables in
      let target = try writable(layer, .layer, tables)
      var item = try writable(id, .annotation, tables)
      let moved: StoredItem
      if item.owner == target.owner {
        change(&item, &tables) { $0[link: "layerID"] = layer }
        moved = item
      } else {
        // A record can't leave its zone, and two accounts never share a zone.
        moved = copy(item, under: layer, in: target.owner, date, &tables)
        for child in tables.childIDs(of: id) {
          guard let comment = tables.item(child, .comment), tables.isShown(comment) else {
            continue
          }
          copy(comment, under: moved.id, in: target.owner, date, &tables)
        }
        change(&item, &tables) { $0.isDeleted = true }
      }
      guard let annotation: Annotation = view(moved) else { throw AnnotationError.notFound(id) }
      return annotation
    }
  }

  @discardableResult
  private func copy(
    _ item: StoredItem, under parent: UUID, in owner: String?, _ date: Date, _ tables: inout Tables
  ) -> StoredItem {
    let id = makeID()
    var fields = item.fields
    fields[text: "id"] = id.uuidString
    if let field = item.kind.parent?.field { fields[link: field] = parent }
    fields.updatedAt = date
    fields.isDeleted = false
    let copy = StoredItem(id: id, kind: item.kind, owner: owner, mine: fields)
    tables.putEdited(copy)
    return copy
  }
}
