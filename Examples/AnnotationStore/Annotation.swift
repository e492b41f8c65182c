public import Foundation

/// What an annotation shows.
public enum AnnotationType: String, Hashable, Sendable, Codable, CaseIterable {
  /// Written words.
  case text
  /// A picture.
  case image
  /// A recording.
  case audio
  /// A film.
  case video
  /// A drawing made by hand.
  case drawing
  /// A three-dimensional object.
  case model
}

/// What an annotation holds.
public struct AnnotationContent: Hashable, Sendable {
  /// The words.
  public var text: String
  /// The file with the picture, recording or object; the store's own copy.
  public var mediaURL: URL?

  /// Words, and a file if there is one.
  public init(text: String = "", mediaURL: URL? = nil) {
    self.text = text
    self.mediaURL = mediaURL
  }
}

/// Something that a person pinned to a place, on a layer.
public struct Annotation: Syncable, FieldBacked, Hashable {
  static let kind = ItemKind.annotation

  /// The annotation's name on every device.
  public let id: UUID
  /// What it shows.
  public var type: AnnotationType
  /// Its title; `nil` for none.
  public var title: String?
  /// What it holds; the file is changed with ``AnnotationStore/attach(_:to:)``.
  public var content: AnnotationContent
  /// Where it is, in metres from the layer's origin; three finite numbers.
  public var position: SIMD3<Float>
  /// How large it is shown; 1 is as made.
  public var scale: Float
  /// The layer it is on; it changes with ``AnnotationStore/move(_:to:)``.
  public internal(set) var layerID: UUID
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

  /// The media file's name in the store's folder, made from its content.
  var mediaName: String?

  /// A new annotation.
  public init(
    id: UUID, type: AnnotationType = .text, title: String? = nil, content: AnnotationContent,
    position: SIMD3<Float> = .zero, scale: Float = 1, layerID: UUID, ownerID: String = "",
    createdAt: Date
  ) {
    self.id = id
    self.type = type
    self.title = title
    self.content = content
    self.position = position
    self.scale = scale
    self.layerID = layerID
    self.ownerID = ownerID
    self.createdAt = createdAt
    updatedAt = createdAt
    isDeleted = false
    syncStatus = .pendingUpload
  }

  var fields: Fields {
    var fields: Fields = [
      "id": .text(id.uuidString),
      "type": .text(type.rawValue),
      "content": .text(content.text),
      "positionX": .number(Double(position.x)),
      "positionY": .number(Double(position.y)),
      "positionZ": .number(Double(position.z)),
      "scale": .number(Double(scale)),
      "layerID": .link(layerID.uuidString),
      "ownerID": .text(ownerID),
      "createdAt": .date(createdAt.timeIntervalSinceReferenceDate),
      "updatedAt": .date(updatedAt.timeIntervalSinceReferenceDate),
      "isDeleted": .whole(isDeleted ? 1 : 0),
    ]
    if let title { fields["title"] = .text(title) }
    if let mediaName { fields["mediaAsset"] = .media(mediaName) }
    return fields
  }

  mutating func take(_ fields: Fields) throws(SyncError) {
    try checkHead(fields, of: id)
    if let name = fields.text("type") {
      guard let type = AnnotationType(rawValue: name) else { throw .invalidRecord }
      self.type = type
    }
    if let title = fields.text("title") { self.title = title }
    if let text = fields.text("content") { content.text = text }
    if let x = fields.number("positionX"), let y = fields.number("positionY"),
      let z = fields.number("positionZ")
    {
      position = SIMD3(Float(x), Float(y), Float(z))
    }
    if let scale = fields.number("scale") { self.scale = Float(scale) }
    if let layerID = fields.link("layerID") { self.layerID = layerID }
    if let ownerID = fields.text("ownerID") { self.ownerID = ownerID }
    if let createdAt = fields.date("createdAt") { self.createdAt = createdAt }
    if let updatedAt = fields.date("updatedAt") { self.updatedAt = updatedAt }
    isDeleted = fields.isDeleted
    if let name = fields.media("mediaAsset") { mediaName = name }
  }

  /// Reads fields; what is missing has its default.
  ///
  /// - Throws: `SyncError` when the layer is missing, or what is there has no meaning here.
  init(id: UUID, fields: Fields) throws(SyncError) {
    guard let layerID = fields.link("layerID") else { throw .missingRequiredField("layerID") }
    let created =
      fields.date("createdAt") ?? fields.date("updatedAt")
      ?? Date(timeIntervalSinceReferenceDate: 0)
    self.init(
      id: id, content: AnnotationContent(), layerID: layerID, createdAt: created)
    try take(fields)
  }
}

/// Checks what all kinds of items have in common.
func checkHead(_ fields: Fields, of id: UUID) throws(SyncError) {
  // A name that says two things could be taken for either on two devices.
  if let text = fields.text("id"), UUID(uuidString: text) != id { throw .invalidRecord }
  if let version = fields.number("schemaVersion"), version > ItemKind.schemaVersion {
    throw .invalidRecord
  }
}
