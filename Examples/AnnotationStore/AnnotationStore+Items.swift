public import Foundation
import SyncSupport
import Synchronization

/// The items that users see, and their changes.
extension AnnotationStore {
  // MARK: Reading

  /// The layers that users see, oldest first.
  public var layers: [Layer] { shown() }

  /// The annotations that users see, of a layer or all, oldest first.
  public func annotations(on layer: UUID? = nil) -> [Annotation] { shown(under: layer) }

  /// The comments that users see, about an annotation or all, oldest first.
  public func comments(on annotation: UUID? = nil) -> [Comment] { shown(under: annotation) }

  /// A layer, also one in the trash; `nil` if there is none with this ID.
  public func layer(_ id: UUID) -> Layer? { view(id, .layer) }

  /// An annotation, also one in the trash; `nil` if there is none with this ID.
  public func annotation(_ id: UUID) -> Annotation? { view(id, .annotation) }

  /// A comment, also one in the trash; `nil` if there is none with this ID.
  public func comment(_ id: UUID) -> Comment? { view(id, .comment) }

  /// The annotations whose layer is in the trash, was removed or never arrived, oldest first.
  ///
  /// They are not in the trash themselves, and can be moved to another layer.
  public var orphans: [Annotation] {
    views { tables in
      tables.items.values.filter {
        $0.kind == .annotation && !$0.isPurged && !$0.fields.isDeleted && !tables.isShown($0)
      }
    }
  }

  /// The number of items that wait, unseen, for their parent.
  public var heldCount: Int {
    state.withLock { state in
      state.tables.items.values.count { item in
        item.parent.map { state.tables.items[$0] == nil } ?? false
      }
    }
  }

  /// The number of records that are kept and not shown, because a newer version of the app wrote
  /// them or they are invalid.
  public var unreadableCount: Int {
    state.withLock { $0.tables.items.values.count { !$0.isReadable } }
  }

  /// The items that users see, as lines in a fixed order: equal on devices that are in sync.
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

  /// Adds a layer.
  ///
  /// - Throws: `FileError` if it can't be stored.
  @discardableResult
  public func addLayer(named name: String) throws -> Layer {
    let layer = Layer(id: makeID(), name: name, createdAt: moment())
    return try transaction { try insert(layer, &$0) }
  }

  /// The content of a new annotation.
  public struct Draft: Hashable, Sendable {
    /// The kind of content.
    public var type: AnnotationType
    /// The title.
    public var title: String?
    /// The words.
    public var text: String
    /// The position.
    public var position: SIMD3<Float>
    /// The size at which it is shown.
    public var scale: Float

    /// Creates a draft.
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

  /// Adds an annotation to a layer.
  ///
  /// - Throws: `AnnotationError` if the layer is not here or read-only, or a number is not finite;
  ///   `FileError` if it can't be stored.
  @discardableResult
  public func add(_ draft: Draft, to layer: UUID) throws -> Annotation {
    try add([draft], to: layer)[0]
  }

  /// Adds annotations to a layer with one write, all or none.
  ///
  /// - Throws: as ``add(_:to:)``.
  @discardableResult
  public func add(_ drafts: [Draft], to layer: UUID) throws -> [Annotation] {
    let date = moment()
    return try transaction { tables in
      // Also without drafts.
      _ = try writable(layer, .layer, tables)
      return try drafts.map { draft in
        let annotation = Annotation(
          id: makeID(), type: draft.type, title: draft.title,
          content: AnnotationContent(text: draft.text), position: draft.position,
          scale: draft.scale, layerID: layer, createdAt: date)
        return try insert(annotation, &tables)
      }
    }
  }

  /// Adds a comment to an annotation.
  ///
  /// - Throws: as ``edit(_:_:)``.
  @discardableResult
  public func comment(on annotation: UUID, text: String) throws -> Comment {
    let comment = Comment(
      id: makeID(), text: text, annotationID: annotation, createdAt: moment())
    return try transaction { try insert(comment, &$0) }
  }

  /// Changes an annotation: type, title, text, position, scale.
  ///
  /// - Throws: `AnnotationError` if it is not here or read-only, or a number is not finite;
  ///   `FileError` if it can't be stored.
  @discardableResult
  public func edit(_ id: UUID, _ body: (inout Annotation) throws -> Void) throws -> Annotation {
    try transaction { tables in
      var item = try writable(id, .annotation, tables)
      guard var annotation: Annotation = view(item) else { throw AnnotationError.notFound(id) }
      try body(&annotation)
      guard annotation.isFinite else { throw AnnotationError.notANumber }
      change(&item, &tables) { $0 = annotation.item.fields }
      return view(item) ?? annotation
    }
  }

  /// Renames a layer.
  ///
  /// - Throws: as ``edit(_:_:)``.
  public func rename(_ layer: UUID, to name: String) throws {
    try change(layer, .layer) { $0[text: "name"] = name }
  }

  /// Copies a file into the store for an annotation; the next sync sends it.
  ///
  /// - Throws: `AnnotationError.mediaTooLarge`, or as ``edit(_:_:)``.
  public func attach(_ file: URL, to annotation: UUID) throws {
    // In the transaction, so that the file is not removed before the item names it.
    try change(annotation, .annotation) {
      $0[media: "mediaAsset"] = try media.stage(copying: file, limit: mediaLimit)
    }
  }

  /// Removes the file of an annotation; the copy is removed by the next sync or launch.
  ///
  /// - Throws: as ``edit(_:_:)``.
  public func detach(from annotation: UUID) throws {
    try change(annotation, .annotation) { $0["mediaAsset"] = nil }
  }

  /// Stores an item as a user left it, new or changed.
  ///
  /// - Throws: `AnnotationError` if it is read-only, its parent is not here, or a number is not
  ///   finite; `SyncError.conversionFailed` for a type of another module; `FileError` if it can't
  ///   be stored.
  public func save<Item: Syncable>(_ item: Item) throws {
    guard let item = item as? any FieldBacked else { throw SyncError.conversionFailed }
    try transaction { try save(item, &$0) }
  }

  /// Stores a new item, and returns it as it is stored.
  private func insert<Item: FieldBacked>(_ item: Item, _ tables: inout Tables) throws -> Item {
    try save(item, &tables)
    return tables.items[item.id].flatMap { view($0) } ?? item
  }

  private func save(_ item: some FieldBacked, _ tables: inout Tables) throws {
    guard let kind = type(of: item).kind else { throw SyncError.conversionFailed }
    if (item as? Annotation)?.isFinite == false { throw AnnotationError.notANumber }
    let fields = item.item.fields
    let parent = try kind.parent.map {
      try writable(fields[link: $0.field] ?? item.id, $0.kind, tables)
    }
    guard tables.items[item.id] != nil else {
      var new = fields
      if item.ownerID.isEmpty { new[text: "ownerID"] = tables.settings.owner ?? "" }
      return tables.putEdited(
        StoredItem(id: item.id, kind: kind, owner: parent?.owner, mine: new))
    }
    var stored = try writable(item.id, kind, tables)
    change(&stored, &tables) { known in
      known.merge(fields) { _, new in new }
      if kind == .annotation { known["title"] = fields["title"] }
    }
  }

  // MARK: Parts

  /// The date and time to the millisecond, which the server keeps.
  func moment() -> Date { now().roundedToMilliseconds }

  /// An item that this account may change.
  func writable(
    _ id: UUID, _ kind: ItemKind, _ tables: Tables
  ) throws(AnnotationError) -> StoredItem {
    guard let item = tables.item(id, kind), item.isReadable else { throw .notFound(id) }
    guard item.owner == nil || tables.share(of: item)?.mayWrite == true else {
      throw .readOnly(id)
    }
    return item
  }

  /// Changes an item in a transaction.
  func change(
    _ id: UUID, _ kind: ItemKind, _ body: (inout Fields) throws -> Void
  ) throws {
    try transaction { tables in
      var item = try writable(id, kind, tables)
      try change(&item, &tables, body)
    }
  }

  /// Changes fields of an item and, if they are different then, the date of the edit.
  ///
  /// - Parameter earliest: the edit's earliest date, by the clock of another device.
  func change(
    _ item: inout StoredItem, _ tables: inout Tables, since earliest: Date = .distantPast,
    _ body: (inout Fields) throws -> Void
  ) rethrows {
    let before = item.fields
    var after = before
    try body(&after)
    after["updatedAt"] = before["updatedAt"]
    guard after != before else { return }
    // An edit is later than what it edits, whatever the clock of this device says.
    after.updatedAt = max(moment(), before.updatedAt.addingTimeInterval(0.001), earliest)
    item.mine = after
    item.refusal = nil
    if item.dispute == nil { tables.putEdited(item) } else { tables.replace(item) }
  }

  /// An item for the app, with the place of its file.
  func view<View: FieldBacked>(_ item: StoredItem, of fields: Fields? = nil) -> View? {
    guard let view = item.view(View.self, of: fields) else { return nil }
    guard var annotation = view as? Annotation,
      let name = annotation.item.fields[media: "mediaAsset"], media.has(name)
    else { return view }
    annotation.mediaURL = media.url(name)
    return annotation as? View
  }

  private func view<View: FieldBacked>(_ id: UUID, _ kind: ItemKind) -> View? {
    state.withLock { $0.tables.item(id, kind).flatMap { view($0) } }
  }

  private func shown<View: FieldBacked>(under parent: UUID? = nil) -> [View] {
    views { tables in
      let items =
        parent.map { tables.childIDs(of: $0).compactMap { tables.items[$0] } }
        ?? Array(tables.items.values)
      return items.filter { $0.kind == View.kind && tables.isShown($0) }
    }
  }

  /// Items for the app, oldest first.
  private func views<View: FieldBacked>(_ items: (Tables) -> [StoredItem]) -> [View] {
    state.withLock { state in items(state.tables).compactMap { view($0) as View? } }
      .sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }
}
