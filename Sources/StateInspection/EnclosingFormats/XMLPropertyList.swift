/// Walks through a property list in XML and keeps the runs of bytes in it.
///
/// It knows the elements of property lists and no others, does not call itself, and reads on to
/// the first fault, so that a file cut short still gives what it holds.
struct XMLPropertyList {
  private struct Frame {
    var isDictionary: Bool
    var key = ""
    var index = 0
  }

  private enum Fault: Error {
    case broken(String)
  }

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private var frames: [Frame] = []
  private(set) var found: [EmbeddedBytes] = []
  /// Where and why the reading ended early.
  private(set) var fault: String?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes.withoutByteOrderMark
    position = self.bytes.startIndex
  }

  /// Reads to the end of the list or to the first fault.
  mutating func read() {
    do throws(Fault) {
      while let tag = try nextTag() {
        if tag == "/plist" { break }
        try take(tag)
      }
      if !frames.isEmpty { throw .broken("it ends early") }
    } catch {
      switch error {
      case .broken(let reason): fault = "\(reason) at byte \(position)"
      }
    }
  }

  private mutating func take(_ tag: String) throws(Fault) {
    switch tag {
    case "plist": break
    case "dict", "array": frames.append(Frame(isDictionary: tag == "dict"))
    case "/dict", "/array":
      guard let frame = frames.popLast(), frame.isDictionary == (tag == "/dict") else {
        throw .broken("an end tag has no start tag")
      }
      countValue()
    case "dict/", "array/", "true/", "false/", "string/", "data/": countValue()
    case "key":
      let text = try content(of: tag).text
      if let last = frames.indices.last {
        frames[last].key = String(decoding: XMLPropertyList.unescaped(text), as: UTF8.self)
      }
    case "data", "string":
      let (text, isClosed) = try content(of: tag, mayBeCut: true)
      if Base64Text.isCandidate(text) { keep(text, isWhole: isClosed) }
      countValue()
    case "integer", "real", "date":
      _ = try content(of: tag)
      countValue()
    default: throw .broken("an element does not belong to the property list format")
    }
    if let fault { throw .broken(fault) }
  }

  /// The name in the next tag, with the slash it begins or ends with; `nil` behind the last one.
  private mutating func nextTag() throws(Fault) -> String? {
    while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      position = start + 1
      if bytes[position...].starts(with: "!--".utf8) {
        try skip(past: "-->")
      } else if let next = peek, next == UInt8(ascii: "?") || next == UInt8(ascii: "!") {
        try skip(past: ">")
      } else {
        let first = position
        try skip(past: ">")
        let inside = bytes[first..<(position - 1)]
        let name = inside.prefix { !$0.isSpace }
        let isEmpty = inside.last == UInt8(ascii: "/") && name.last != UInt8(ascii: "/")
        return String(decoding: name, as: UTF8.self) + (isEmpty ? "/" : "")
      }
    }
    position = bytes.endIndex
    return nil
  }

  /// What stands before the end tag of an element without elements inside.
  private mutating func content(
    of tag: String, mayBeCut: Bool = false
  ) throws(Fault) -> (text: ArraySlice<UInt8>, isClosed: Bool) {
    let first = position
    let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.endIndex
    position = end
    guard bytes[end...].starts(with: "</\(tag)>".utf8) else {
      guard mayBeCut else { throw .broken("<\(tag)> does not end") }
      fault = "<\(tag)> does not end"
      return (bytes[first..<end], false)
    }
    position = end + tag.utf8.count + 3
    return (bytes[first..<end], true)
  }

  private mutating func skip(past mark: String) throws(Fault) {
    let mark = Array(mark.utf8)
    while position < bytes.endIndex {
      if bytes[position] == mark[0], bytes[position...].starts(with: mark) {
        position += mark.count
        return
      }
      position += 1
    }
    throw .broken("a tag does not end")
  }

  private mutating func keep(_ text: ArraySlice<UInt8>, isWhole: Bool) {
    guard frames.count <= EnclosingFormat.deepest else { return }
    let (bytes, isClean) = Base64Text.decode(text)
    let place = frames.map { $0.isDictionary ? $0.key : String($0.index) }
    found.append(EmbeddedBytes(place: place, bytes: bytes, isWhole: isWhole && isClean))
  }

  private mutating func countValue() {
    if let last = frames.indices.last { frames[last].index += 1 }
  }

  private var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  /// The text with the five names that XML has for signs of its own replaced by these signs.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
    let names: [(String, String)] = [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&"),
    ]
    var plain: [UInt8] = []
    var rest = text
    while let next = rest.first {
      if let (name, sign) = names.first(where: { rest.starts(with: $0.0.utf8) }) {
        plain.append(contentsOf: sign.utf8)
        rest = rest.dropFirst(name.utf8.count)
      } else {
        plain.append(next)
        rest = rest.dropFirst()
      }
    }
    return plain
  }
}
