public import Foundation

/// What somebody said about an annotation.
public struct Comment: Syncable, FieldBacked, Hashable {
  static let kind = ItemKind.comment

  /// The comment's name on every device.
  public let id: UUID
  /// What is said.
  public var text: String
  /// The annotation it is about.
  public let annotationID: UUID
  /// Who said it, by the name of the user's record; empty before the first sync.
  public internal(set) var ownerID: String
  /// When it was made.
  public internal(set) var createdAt: Date
  /// When it was changed last.
  public internal(set) var updatedAt: Date
  /// Whether it is in the trash.
  public internal(set) var isDeleted: Bool
  /// The name of its record; `nil` before the cloud has one.
  public var cloudKitRecordName: String?
  /// Where it stands.
  public var syncStatus: SyncItemStatus

  /// A new comment.
  public init(
    id: UUID, text: String, annotationID: UUID, ownerID: String = "", createdAt: Date
  ) {
    self.id = id
    self.text = text
    self.annotationID = annotationID
    self.ownerID = ownerID
    self.createdAt = createdAt
    updatedAt = createdAt
    isDeleted = false
    syncStatus = .pendingUpload
  }

  var fields: Fields {
    [
      "id": .text(id.uuidString),
      "text": .text(text),
      "annotationID": .link(annotationID.uuidString),
      "ownerID": .text(ownerID),
      "createdAt": .date(createdAt.timeIntervalSinceReferenceDate),
      "updatedAt": .date(updatedAt.timeIntervalSinceReferenceDate),
      "isDeleted": .whole(isDeleted ? 1 : 0),
    ]
  }

  mutating func take(_ fields: Fields) throws(SyncError) {
    try checkHead(fields, of: id)
    if let text = fields.text("text") { self.text = text }
    if let ownerID = fields.text("ownerID") { self.ownerID = ownerID }
    if let createdAt = fields.date("createdAt") { self.createdAt = createdAt }
    if let updatedAt = fields.date("updatedAt") { self.updatedAt = updatedAt }
    isDeleted = fields.isDeleted
  }

  /// Reads fields; what is missing has its default.
  ///
  /// - Throws: `SyncError` when the annotation is missing, or what is there has no meaning here.
  init(id: UUID, fields: Fields) throws(SyncError) {
    guard let annotationID = fields.link("annotationID") else {
      throw .missingRequiredField("annotationID")
    }
    let created =
      fields.date("createdAt") ?? fields.date("updatedAt")
      ?? Date(timeIntervalSinceReferenceDate: 0)
    self.init(id: id, text: "", annotationID: annotationID, createdAt: created)
    try take(fields)
  }
}
