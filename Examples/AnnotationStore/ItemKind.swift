import Foundation
import SyncSupport

/// The three record types of this store, parents first.
enum ItemKind: String, Hashable, Sendable, Codable, CaseIterable {
  case layer = "Layer"
  case annotation = "Annotation"
  case comment = "Comment"

  /// The newest version of records that is read; a record has its own in `schemaVersion`.
  static let schemaVersion = 1.0

  /// Fields that record an edit and never decide one.
  static let followers: Set<String> = ["updatedAt"]

  /// The kind of an item's parent and the field that names it; `nil` for an item without a parent.
  var parent: (kind: ItemKind, field: String)? {
    switch self {
    case .layer: nil
    case .annotation: (.layer, "layerID")
    case .comment: (.annotation, "annotationID")
    }
  }

  /// The number of kinds above this one.
  var depth: Int { parent.map { $0.kind.depth + 1 } ?? 0 }

  /// The query subscription to records of this type.
  var subscriptionID: CKSubscription.ID { rawValue.lowercased() + "-changes" }

  /// Fields that mean something only together.
  var groups: [String: [String]] {
    self == .annotation ? ["position": Annotation.axes] : [:]
  }

  /// Checks that fields are those of an item that this version can read.
  func check(_ fields: Fields, of id: UUID) throws(SyncError) {
    if let parent, fields[link: parent.field] == nil { throw .missingRequiredField(parent.field) }
    // A name that says two things could be taken for either on two devices.
    if let text = fields[text: "id"], UUID(uuidString: text) != id { throw .invalidRecord }
    if let version = fields[number: "schemaVersion"], version > Self.schemaVersion {
      throw .invalidRecord
    }
    if self == .annotation, let type = fields[text: "type"], AnnotationType(rawValue: type) == nil {
      throw .invalidRecord
    }
  }
}
