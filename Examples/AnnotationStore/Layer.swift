public import Foundation

/// A set of annotations that are shown, hidden and shared together.
public struct Layer: Syncable, FieldBacked, Hashable {
  static let kind = ItemKind.layer

  /// The layer's name on every device.
  public let id: UUID
  /// What people call it.
  public var name: String
  /// Who made it, by the name of the user's record; empty before the first sync.
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

  /// A new layer.
  public init(id: UUID, name: String, ownerID: String = "", createdAt: Date) {
    self.id = id
    self.name = name
    self.ownerID = ownerID
    self.createdAt = createdAt
    updatedAt = createdAt
    isDeleted = false
    syncStatus = .pendingUpload
  }

  var fields: Fields {
    [
      "id": .text(id.uuidString),
      "name": .text(name),
      "ownerID": .text(ownerID),
      "createdAt": .date(createdAt.timeIntervalSinceReferenceDate),
      "updatedAt": .date(updatedAt.timeIntervalSinceReferenceDate),
      "isDeleted": .whole(isDeleted ? 1 : 0),
    ]
  }

  mutating func take(_ fields: Fields) throws(SyncError) {
    try checkHead(fields, of: id)
    if let name = fields.text("name") { self.name = name }
    if let ownerID = fields.text("ownerID") { self.ownerID = ownerID }
    if let createdAt = fields.date("createdAt") { self.createdAt = createdAt }
    if let updatedAt = fields.date("updatedAt") { self.updatedAt = updatedAt }
    isDeleted = fields.isDeleted
  }

  /// Reads fields; what is missing has its default.
  ///
  /// - Throws: `SyncError` when what is there has no meaning here.
  init(id: UUID, fields: Fields) throws(SyncError) {
    let created =
      fields.date("createdAt") ?? fields.date("updatedAt")
      ?? Date(timeIntervalSinceReferenceDate: 0)
    self.init(id: id, name: "Untitled", createdAt: created)
    try take(fields)
  }
}
