/// A byte sequence embedded in a file of another format, and its path.
struct EmbeddedBytes: Sendable {
  /// The members and indices of its path, outermost first.
  var place: [String]
  var bytes: [UInt8]
  /// Whether it was decoded completely.
  var isWhole: Bool
}

/// The formats in which apps embed an encoded state.
enum EnclosingFormat: Sendable {
  case json
  case binaryPropertyList
  case propertyList

  /// The maximum nesting depth that is searched.
  static let deepest = 64

  /// Detects the format by the first bytes; `nil` for other formats.
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

  /// The name of the format.
  var name: String {
    switch self {
    case .json: "JSON"
    case .binaryPropertyList: "a binary property list"
    case .propertyList: "a property list"
    }
  }

  /// The byte sequences in `bytes` that may be or contain a state, in order, and the first syntax
  /// error.
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
  /// The bytes without a leading byte order mark.
  var withoutByteOrderMark: ArraySlice<UInt8> {
    starts(with: [0xef, 0xbb, 0xbf]) ? self[3...] : self[...]
  }
}
