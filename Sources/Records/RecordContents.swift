/// The parts of a record, in one place that its copies share.
///
/// What guards it is that only a record that holds it alone changes it (`Record.makeUnique`). For
/// the same reason no two changes of it overlap, and none is looked for while the program runs.
@usableFromInline final class RecordContents: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var id: RecordID
  @exclusivity(unchecked) @usableFromInline var type: String
  @exclusivity(unchecked) @usableFromInline var changeTag: ChangeTag?
  @exclusivity(unchecked) @usableFromInline var fields: Fields
  @exclusivity(unchecked) @usableFromInline var created: RecordStamp?
  @exclusivity(unchecked) @usableFromInline var modified: RecordStamp?
  /// What few records have: boxed, so that all the others are small.
  @exclusivity(unchecked) var relations: Boxed<RecordRelations>

  init(
    id: RecordID, type: String, changeTag: ChangeTag?, fields: Fields, created: RecordStamp?,
    modified: RecordStamp?, relations: Boxed<RecordRelations>
  ) {
    self.id = id
    self.type = type
    self.changeTag = changeTag
    self.fields = fields
    self.created = created
    self.modified = modified
    self.relations = relations
  }

  @usableFromInline convenience init(_ other: RecordContents) {
    self.init(
      id: other.id, type: other.type, changeTag: other.changeTag, fields: other.fields,
      created: other.created, modified: other.modified, relations: other.relations)
  }
}

/// What a record has to do with sharing.
struct RecordRelations: Hashable, Sendable {
  var parent: RecordID?
  var share: RecordID?
  var sharing: ShareDetails?

  init() {}

  /// `nil` when there is nothing to keep, so that equal records have equal relations.
  init?(parent: RecordID?, share: RecordID?, sharing: ShareDetails?) {
    if parent == nil && share == nil && sharing == nil { return nil }
    self.parent = parent
    self.share = share
    self.sharing = sharing
  }
}
