/// What the spike stores: a note of one shape, with none of what makes a record.
struct SpikeNote: Sendable {
  var name: String
  var text: String
  var position: Int
  var isDone: Int
  var modified: Double
}

/// JSON of notes, written and read by schema: what one would write by hand for this and nothing
/// else.
enum SpikeJSON {
  /// `{"tokenAfter":…,"records":[…]}`; what is missing is left out.
  static func page(_ notes: some Sequence<SpikeNote>, token: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 << 17)
    bytes.append(contentsOf: #"{"token":"#.utf8)
    append(token, to: &bytes)
    bytes.append(contentsOf: #","records":["#.utf8)
    var isFirst = true
    for note in notes {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      append(note, to: &bytes)
    }
    bytes.append(contentsOf: "]}".utf8)
    return bytes
  }

  static func append(_ note: SpikeNote, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: #"{"recordName":"#.utf8)
    append(note.name, to: &bytes)
    bytes.append(contentsOf: #","recordType":"Note","fields":{"text":{"value":"#.utf8)
    append(note.text, to: &bytes)
    bytes.append(contentsOf: #"},"position":{"value":"#.utf8)
    append(note.position, to: &bytes)
    bytes.append(contentsOf: #"},"isDone":{"value":"#.utf8)
    append(note.isDone, to: &bytes)
    bytes.append(contentsOf: #"},"lastModified":{"value":"#.utf8)
    bytes.append(contentsOf: note.modified.description.utf8)
    bytes.append(contentsOf: "}}}".utf8)
  }

  static func append(_ number: Int, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: String(number).utf8)
  }

  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// The notes and the token of a page.
  static func read(_ bytes: [UInt8]) -> (notes: [SpikeNote], token: Int) {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = Reader(bytes: bytes)
      reader.skip(past: UInt8(ascii: ":"))
      let token = Int(reader.number())
      var notes: [SpikeNote] = []
      notes.reserveCapacity(400)
      reader.skip(past: UInt8(ascii: "["))
      while reader.at < bytes.count, bytes[reader.at] != UInt8(ascii: "]") {
        notes.append(reader.note())
        if bytes[reader.at] == UInt8(ascii: ",") { reader.at += 1 }
      }
      return (notes, token)
    }
  }

  private struct Reader {
    let bytes: UnsafeBufferPointer<UInt8>
    var at = 0

    mutating func skip(past byte: UInt8) {
      while bytes[at] != byte { at += 1 }
      at += 1
    }

    mutating func note() -> SpikeNote {
      let name = value { $0.text() }
      skip(past: UInt8(ascii: ":"))
      skip(past: UInt8(ascii: ":"))
      let note = SpikeNote(
        name: name, text: field { $0.text() }, position: field { Int($0.number()) },
        isDone: field { Int($0.number()) }, modified: field { $0.number() })
      at += 2
      return note
    }

    /// What stands behind the next colon.
    mutating func value<Value>(_ read: (inout Reader) -> Value) -> Value {
      skip(past: UInt8(ascii: ":"))
      return read(&self)
    }

    /// What stands behind the second colon from here.
    mutating func field<Value>(_ read: (inout Reader) -> Value) -> Value {
      skip(past: UInt8(ascii: ":"))
      let value = value(read)
      skip(past: UInt8(ascii: "}"))
      return value
    }

    mutating func text() -> String {
      at += 1
      let start = at
      var hasEscape = false
      while bytes[at] != UInt8(ascii: "\"") {
        if bytes[at] == UInt8(ascii: "\\") {
          hasEscape = true
          at += 1
        }
        at += 1
      }
      let raw = bytes[start..<at]
      at += 1
      guard hasEscape else { return String(decoding: raw, as: UTF8.self) }
      var plain: [UInt8] = []
      var index = raw.startIndex
      while index < raw.endIndex {
        if raw[index] == UInt8(ascii: "\\") { index += 1 }
        plain.append(raw[index])
        index += 1
      }
      return String(decoding: plain, as: UTF8.self)
    }

    mutating func number() -> Double {
      let start = at
      while bytes[at] != UInt8(ascii: "}"), bytes[at] != UInt8(ascii: ",") { at += 1 }
      var whole = 0
      for byte in bytes[start..<at] {
        guard byte >= 0x30, byte <= 0x39, whole < 100_000_000_000_000 else {
          return Double(String(decoding: bytes[start..<at], as: UTF8.self)) ?? 0
        }
        whole = whole * 10 + Int(byte) - 0x30
      }
      return Double(whole)
    }
  }
}
