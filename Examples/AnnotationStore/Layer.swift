public import Foundation
public import SyncSupport

/// A set of annotations that are shown, hidden and shared together.
public struct Layer: FieldBacked {
  /// The type of its records.
  public static let recordType: CKRecord.RecordType = "Layer"

  /// The fields, and the state of the sync.
  public var item: ItemContent

  /// Shows fields.
  public init(_ item: ItemContent) {
    self.item = item
  }

  /// Creates a layer.
  public init(id: UUID, name: String, ownerID: String = "", createdAt: Date) {
    self.init(new: id, ownerID: ownerID, createdAt: createdAt)
    self.name = name
  }

  /// The name that users see.
  public var name: String {
    get { item.fields[text: "name"] ?? "Untitled" }
    set { item.fields[text: "name"] = newValue }
  }
}
