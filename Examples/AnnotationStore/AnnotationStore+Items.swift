public import Foundation
import SyncSupport
import Synchronization

/// What people see, and how they change it.
extension AnnotationStore {
  // MARK: Reading

  /// The layers people see, oldest first.
  public var layers: [Layer] {
    state.withLock { state in
      state.tables.items.values.filter { $0.kind == .layer && state.tables.isShown($0) }
        .compactMap(\.layer)
    }.sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }

  /// The annotations people see, oldest first.
  ///
  /// - Parameter layer: only those on this layer.
  public func annotations(on layer: UUID? = nil) -> [Annotation] {
    state.withLock { state in
      shown(.annotation, under: layer, state.tables).compactMap { $0.annotation(media: media) }
    }.sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }

  /// The comments people see, oldest first.
  ///
  /// - Parameter annotation: only those about this annotation.
  public func comments(on annotation: UUID? = nil) -> [Comment] {
    state.withLock { state in
      shown(.comment, under: annotation, state.tables).compactMap(\.comment)
    }.sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }

  /// The layer called `id`, in the trash or not; `nil` when there is none.
  public func layer(_ id: UUID) -> Layer? {
    state.withLock { $0.tables.item(id, .layer)?.layer }
  }

  /// The annotation called `id`, in the trash or not; `nil` when there is none.
  public func annotation(_ id: UUID) -> Annotation? {
    state.withLock { $0.tables.item(id, .annotation)?.annotation(media: media) }
  }

  /// The comment called `id`, in the trash or not; `nil` when there is none.
  public func comment(_ id: UUID) -> Comment? {
    state.withLock { $0.tables.item(id, .comment)?.comment }
  }

  /// Annotations that are not in the trash but whose layer is, or is gone, or never came.
  ///
  /// They can be moved to another layer. Oldest first.
  public var orphans: [Annotation] {
    state.withLock { state in
      state.tables.items.values.filter { item in
        item.kind == .annotation && !item.isPurged && !item.fields.isDeleted
          && !state.tables.isShown(item)
      }.compactMap { $0.annotation(media: media) }
    }.sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }

  /// How many annotations and comments wait, unseen, for a record they hang under.
  public var heldCount: Int { state.withLock { $0.tables.holding.count } }

  /// How many records are kept without being shown: a newer version of the app wrote them, or they
  /// make no sense.
  public var unreadableCount: Int {
    state.withLock { $0.tables.items.values.count { !$0.isReadable } }
  }

  /// What people see, line by line in one order: two devices in step give the same lines.
  public var canonicalLines: [String] {
    state.withLock { state in
      state.tables.items.values.filter { state.tables.isShown($0) }.map { item in
        let fields = item.fields.sorted { $0.key < $1.key }
        let text = fields.map { "\($0.key)=\($0.value.canonicalText)" }.joined(separator: " ")
        return "\(item.kind.rawValue) \(item.id.uuidString) \(text)"
      }
    }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  // MARK: Changing

  /// Makes a layer.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func addLayer(named name: String) throws -> Layer {
    let layer = Layer(
      id: surroundings.makeID(), name: name, ownerID: account ?? "", createdAt: moment())
    try transaction { tables in
      tables.putEdited(
        StoredItem(id: layer.id, kind: .layer, owner: nil, mine: layer.fields))
    }
    return layer
  }

  /// What a new annotation is made of.
  public struct Draft: Hashable, Sendable {
    /// What it shows.
    public var type: AnnotationType
    /// Its title.
    public var title: String?
    /// Its words.
    public var text: String
    /// Where it is.
    public var position: SIMD3<Float>
    /// How large it is shown.
    public var scale: Float

    /// A draft.
    public init(
      type: AnnotationType = .text, title: String? = nil, text: String = "",
      position: SIMD3<Float> = .zero, scale: Float = 1
    ) {
      self.type = type
      self.title = title
      self.text = text
      self.position = position
      self.scale = scale
    }
  }

  /// Pins an annotation to a layer.
  ///
  /// - Throws: `AnnotationError` when the layer is not there or only to be read, or a number is
  ///   none; `FileError` when it can't be written down.
  @discardableResult
  public func add(_ draft: Draft, to layer: UUID) throws -> Annotation {
    try add([draft], to: layer)[0]
  }

  /// Pins many annotations to a layer, all or none, with one write.
  ///
  /// - Throws: as ``add(_:to:)``.
  @discardableResult
  public func add(_ drafts: [Draft], to layer: UUID) throws -> [Annotation] {
    let date = moment()
    return try transaction { tables in
      let parent = try writable(layer, .layer, tables)
      return try drafts.map { draft in
        let annotation = Annotation(
          id: surroundings.makeID(), type: draft.type, title: draft.title,
          content: AnnotationContent(text: draft.text), position: draft.position,
          scale: draft.scale, layerID: layer, ownerID: tables.settings.owner ?? "",
          createdAt: date)
        try check(annotation)
        tables.putEdited(
          StoredItem(
            id: annotation.id, kind: .annotation, owner: parent.owner, mine: annotation.fields))
        return annotation
      }
    }
  }

  /// Says something about an annotation.
  ///
  /// - Throws: `AnnotationError` when the annotation is not there or only to be read; `FileError`
  ///   when it can't be written down.
  @discardableResult
  public func comment(on annotation: UUID, text: String) throws -> Comment {
    let date = moment()
    return try transaction { tables in
      let parent = try writable(annotation, .annotation, tables)
      let comment = Comment(
        id: surroundings.makeID(), text: text, annotationID: annotation,
        ownerID: tables.settings.owner ?? "", createdAt: date)
      tables.putEdited(
        StoredItem(id: comment.id, kind: .comment, owner: parent.owner, mine: comment.fields))
      return comment
    }
  }

  /// Changes an annotation: type, title, text, position, scale.
  ///
  /// - Throws: `AnnotationError` when it is not there or only to be read, or a number is none;
  ///   `FileError` when it can't be written down.
  @discardableResult
  public func edit(
    _ id: UUID, _ body: (inout Annotation) throws -> Void
  ) throws -> Annotation {
    try transaction { tables in
      var item = try writable(id, .annotation, tables)
      guard var annotation = item.annotation(media: media) else {
        throw AnnotationError.notFound(id)
      }
      try body(&annotation)
      try check(annotation)
      change(&item, to: annotation.fields, clearing: ["title"], &tables)
      return item.annotation(media: media) ?? annotation
    }
  }

  /// Renames a layer.
  ///
  /// - Throws: as ``edit(_:_:)``.
  public func rename(_ layer: UUID, to name: String) throws {
    try transaction { tables in
      var item = try writable(layer, .layer, tables)
      change(&item, to: ["name": .text(name)], &tables)
    }
  }

  /// Changes what a comment says.
  ///
  /// - Throws: as ``edit(_:_:)``.
  public func editComment(_ id: UUID, text: String) throws {
    try transaction { tables in
      var item = try writable(id, .comment, tables)
      change(&item, to: ["text": .text(text)], &tables)
    }
  }

  /// Gives an annotation a file: copies it into the store, and sends it with the next sync.
  ///
  /// - Throws: `AnnotationError.mediaTooLarge`, or as ``edit(_:_:)``.
  public func attach(_ file: URL, to annotation: UUID) throws {
    try state.withLock { state in
      try Self.transaction(&state) { tables in
        var item = try writable(annotation, .annotation, tables)
        // Under the lock, so that no sweep takes the file before the item names it.
        let name = try media.stage(copying: file, limit: surroundings.mediaLimit)
        change(&item, to: ["mediaAsset": .media(name)], &tables)
      }
    }
  }

  /// Takes an annotation's file away.
  ///
  /// - Throws: as ``edit(_:_:)``.
  public func detach(from annotation: UUID) throws {
    try transaction { tables in
      var item = try writable(annotation, .annotation, tables)
      change(&item, to: [:], clearing: ["mediaAsset"], &tables)
    }
    sweepMedia()
  }

  // MARK: Parts

  /// The present moment to the millisecond, which every way to the cloud keeps.
  func moment() -> Date {
    let seconds = surroundings.now().timeIntervalSinceReferenceDate
    return Date(timeIntervalSinceReferenceDate: (seconds * 1_000).rounded() / 1_000)
  }

  /// The item called `id`, if this account may change it.
  func writable(
    _ id: UUID, _ kind: ItemKind, _ tables: Tables
  ) throws(AnnotationError) -> StoredItem {
    guard let item = tables.item(id, kind), item.isReadable else { throw .notFound(id) }
    guard item.owner == nil || tables.share(of: item)?.mayWrite == true else {
      throw .readOnly(id)
    }
    return item
  }

  /// Sets fields of an item, if that changes anything, and dates the edit.
  func change(
    _ item: inout StoredItem, to fields: Fields, clearing cleared: [String] = [],
    _ tables: inout Tables
  ) {
    let before = item.fields
    var after = before
    for key in cleared { after[key] = nil }
    for (key, value) in fields where !ItemKind.followers.contains(key) { after[key] = value }
    guard after != before else { return }
    let earlier = before.date("updatedAt") ?? .distantPast
    // An edit is later than what it edits, whatever this device's clock says.
    let date = max(moment(), earlier.addingTimeInterval(0.001))
    after["updatedAt"] = .date(date.timeIntervalSinceReferenceDate)
    item.mine = after
    item.refusal = nil
    if item.dispute == nil { tables.putEdited(item) } else { tables.replace(item) }
  }

  func check(_ annotation: Annotation) throws(AnnotationError) {
    let position = annotation.position
    guard position.x.isFinite, position.y.isFinite, position.z.isFinite, annotation.scale.isFinite
    else { throw .notANumber }
  }

  private func shown(_ kind: ItemKind, under parent: UUID?, _ tables: Tables) -> [StoredItem] {
    guard let parent else {
      return tables.items.values.filter { $0.kind == kind && tables.isShown($0) }
    }
    return tables.childIDs(of: parent).compactMap { tables.items[$0] }
      .filter { $0.kind == kind && tables.isShown($0) }
  }
}

extension AnnotationStore {
  /// Takes an item as a person left it: what the person may change of one that is here, or a new
  /// one under its own name.
  ///
  /// - Throws: `AnnotationError` when it may not be changed, what it hangs under is not here, or a
  ///   number is none; `SyncError.conversionFailed` for a kind of item this store does not have;
  ///   `FileError` when it can't be written down.
  public func save<Item: Syncable>(_ item: Item) throws {
    try transaction { tables in
      switch item {
      case let layer as Layer:
        try save(layer.fields, of: layer.id, .layer, under: nil, &tables)
      case let annotation as Annotation:
        try check(annotation)
        try save(
          annotation.fields, of: annotation.id, .annotation, under: annotation.layerID, &tables)
      case let comment as Comment:
        try save(comment.fields, of: comment.id, .comment, under: comment.annotationID, &tables)
      default: throw SyncError.conversionFailed
      }
    }
  }

  private func save(
    _ fields: Fields, of id: UUID, _ kind: ItemKind, under parent: UUID?, _ tables: inout Tables
  ) throws {
    let above: StoredItem? =
      switch kind {
      case .layer: nil
      case .annotation: try parent.map { try writable($0, .layer, tables) }
      case .comment: try parent.map { try writable($0, .annotation, tables) }
      }
    guard tables.items[id] == nil else {
      var item = try writable(id, kind, tables)
      return change(&item, to: fields, clearing: kind == .annotation ? ["title"] : [], &tables)
    }
    var fields = fields
    if fields["ownerID"] == .text("") { fields["ownerID"] = .text(tables.settings.owner ?? "") }
    tables.putEdited(StoredItem(id: id, kind: kind, owner: above?.owner, mine: fields))
  }
}
