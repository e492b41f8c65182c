/// A run of bytes that stands inside a file of another form, and the way to it.
struct EmbeddedBytes: Sendable {
  /// The members and indices that lead there, outermost first.
  var place: [String]
  var bytes: [UInt8]
  /// Whether all of it could be read as what it should be.
  var isWhole: Bool
}

/// The forms that apps keep an encoded state in.
enum EnclosingFormat: Sendable {
  case json
  case binaryPropertyList
  case propertyList

  /// What is nested deeper than this is none of an app's.
  static let deepest = 64

  /// The form that bytes seem to have by how they begin; `nil` when it is none of these.
  init?(of bytes: [UInt8]) {
    if bytes.starts(with: BinaryPropertyList.magic) {
      self = .binaryPropertyList
      return
    }
    let text = bytes.withoutByteOrderMark.drop(while: \.isSpace)
    switch text.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
      self = .json
    case UInt8(ascii: "<"):
      let starts = ["<?xml", "<!DOCTYPE plist", "<plist"]
      guard starts.contains(where: { text.starts(with: $0.utf8) }) else { return nil }
      self = .propertyList
    default: return nil
    }
  }

  /// What people call the form.
  var name: String {
    switch self {
    case .json: "JSON"
    case .binaryPropertyList: "a binary property list"
    case .propertyList: "a property list"
    }
  }

  /// The runs of bytes in `bytes` that may be or hold a state, in the order they stand there, and
  /// where the form is broken.
  func contents(of bytes: [UInt8]) -> (found: [EmbeddedBytes], fault: String?) {
    switch self {
    case .json:
      var reader = JSONBytes(bytes)
      reader.read()
      return (reader.found, reader.fault)
    case .binaryPropertyList:
      var list = BinaryPropertyList(bytes)
      list.read()
      return (list.found, list.fault)
    case .propertyList:
      var list = XMLPropertyList(bytes)
      list.read()
      return (list.found, list.fault)
    }
  }
}

extension UInt8 {
  /// Whether the byte is white space in JSON, XML and base64.
  var isSpace: Bool { self == 0x20 || self == 0x0a || self == 0x0d || self == 0x09 }
}

extension [UInt8] {
  /// The bytes behind the mark that some editors put in front of text.
  var withoutByteOrderMark: ArraySlice<UInt8> {
    starts(with: [0xef, 0xbb, 0xbf]) ? self[3...] : self[...]
  }
}
