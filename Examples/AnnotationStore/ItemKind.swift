import CloudSync

/// What an item is: the three record types of this store, each with a parent of the one before.
enum ItemKind: String, Hashable, Sendable, Codable, CaseIterable {
  case layer = "Layer"
  case annotation = "Annotation"
  case comment = "Comment"

  /// The newest form of records this version reads; a record says its own in `schemaVersion`.
  static let schemaVersion = 1.0

  /// The record type in the cloud.
  var recordType: CKRecord.RecordType { rawValue }

  /// The field that names the parent; `nil` for what has none.
  var parentField: String? {
    switch self {
    case .layer: nil
    case .annotation: "layerID"
    case .comment: "annotationID"
    }
  }

  /// The query subscription for records of this type.
  var subscriptionID: CKSubscription.ID {
    switch self {
    case .layer: "layer-changes"
    case .annotation: "annotation-changes"
    case .comment: "comment-changes"
    }
  }

  /// Fields that mean something only together.
  var groups: [String: [String]] {
    switch self {
    case .annotation: ["position": ["positionX", "positionY", "positionZ"]]
    case .layer, .comment: [:]
    }
  }

  /// Fields that record an edit and never decide one.
  static let followers: Set<String> = ["updatedAt"]
}
