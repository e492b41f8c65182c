public import Foundation
public import SyncSupport

/// The kinds of content that an annotation can show.
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

/// The content of an annotation.
public struct AnnotationContent: Hashable, Sendable {
  /// The words.
  public var text: String
  /// The file with the picture, recording or object; the store's own copy.
  public var mediaURL: URL?

  /// Creates a content.
  public init(text: String = "", mediaURL: URL? = nil) {
    self.text = text
    self.mediaURL = mediaURL
  }
}

/// Something that a person pinned to a place, on a layer.
public struct Annotation: FieldBacked {
  /// The type of its records.
  public static let recordType: CKRecord.RecordType = "Annotation"

  /// The fields, and the state of the sync.
  public var item: ItemContent

  var mediaURL: URL?

  /// Shows fields.
  public init(_ item: ItemContent) {
    self.item = item
  }

  /// Creates an annotation.
  public init(
    id: UUID, type: AnnotationType = .text, title: String? = nil, content: AnnotationContent,
    position: SIMD3<Float> = .zero, scale: Float = 1, layerID: UUID, ownerID: String = "",
    createdAt: Date
  ) {
    self.init(new: id, ownerID: ownerID, createdAt: createdAt, parent: layerID)
    self.type = type
    self.title = title
    self.content = content
    self.position = position
    self.scale = scale
  }

  /// The kind of content.
  public var type: AnnotationType {
    get { item.fields[text: "type"].flatMap(AnnotationType.init) ?? .text }
    set { item.fields[text: "type"] = newValue.rawValue }
  }

  /// The title; `nil` for none.
  public var title: String? {
    get { item.fields[text: "title"] }
    set { item.fields[text: "title"] = newValue }
  }

  /// The content; its file is changed with ``AnnotationStore/attach(_:to:)``.
  public var content: AnnotationContent {
    get { AnnotationContent(text: item.fields[text: "content"] ?? "", mediaURL: mediaURL) }
    set {
      item.fields[text: "content"] = newValue.text
      mediaURL = newValue.mediaURL
    }
  }

  /// The position, in metres from the layer's origin; three finite numbers.
  public var position: SIMD3<Float> {
    get {
      let numbers = Self.axes.compactMap { item.fields[number: $0].map { Float($0) } }
      return numbers.count == 3 ? SIMD3(numbers) : .zero
    }
    set {
      for (index, axis) in Self.axes.enumerated() {
        item.fields[number: axis] = Double(newValue[index])
      }
    }
  }

  /// The size at which it is shown; 1 is the original size.
  public var scale: Float {
    get { Float(item.fields[number: "scale"] ?? 1) }
    set { item.fields[number: "scale"] = Double(newValue) }
  }

  /// The layer; it is changed with ``AnnotationStore/move(_:to:)``.
  public internal(set) var layerID: UUID {
    get { item.fields[link: "layerID"] ?? id }
    set { item.fields[link: "layerID"] = newValue }
  }

  /// The fields of the position, which mean something only together.
  static let axes = ["positionX", "positionY", "positionZ"]

  /// Whether its position and scale are numbers.
  var isFinite: Bool {
    !(Self.axes + ["scale"]).contains { field in
      if case .number(let number)? = item.fields[field] { !number.isFinite } else { false }
    }
  }
}
