public import Foundation
public import SyncSupport

/// A remark about an annotation.
public struct Comment: FieldBacked {
  /// The type of its records.
  public static let recordType: CKRecord.RecordType = "Comment"

  /// The fields, and the state of the sync.
  public var item: ItemContent

  /// Shows fields.
  public init(_ item: ItemContent) {
    self.item = item
  }

  /// Creates a comment.
  public init(id: UUID, text: String, annotationID: UUID, ownerID: String = "", createdAt: Date) {
    self.init(new: id, ownerID: ownerID, createdAt: createdAt, parent: annotationID)
    self.text = text
  }

  /// The text.
  public var text: String {
    get { item.fields[text: "text"] ?? "" }
    set { item.fields[text: "text"] = newValue }
  }

  /// The annotation that it is about.
  public var annotationID: UUID { item.fields[link: "annotationID"] ?? id }
}
