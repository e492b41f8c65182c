/// Records as JSON, written and read by hand straight into values: what one would write for this
/// and nothing else.
enum SpikeJSON {
  /// A page: its token, then its records.
  static func page(_ records: some Sequence<SpikeRecord>, token: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 << 17)
    bytes.append(contentsOf: #"{"token":"#.utf8)
    append(token, to: &bytes)
    bytes.append(contentsOf: #","records":["#.utf8)
    var isFirst = true
    for record in records {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      append(record, to: &bytes)
    }
    bytes.append(contentsOf: "]}".utf8)
    return bytes
  }

  static func append(_ record: SpikeRecord, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: #"{"recordName":"#.utf8)
    append(record.name, to: &bytes)
    bytes.append(contentsOf: #","recordType":"#.utf8)
    append(record.type, to: &bytes)
    bytes.append(contentsOf: #","fields":{"#.utf8)
    for (index, field) in record.fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(field.key, to: &bytes)
      bytes.append(contentsOf: #":{"value":"#.utf8)
      switch field.value {
      case .text(let text): append(text, to: &bytes)
      case .number(let number):
        if let whole = Int(exactly: number) {
          append(whole, to: &bytes)
        } else {
          bytes.append(contentsOf: number.description.utf8)
        }
      }
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(contentsOf: "}}".utf8)
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

  /// The records and the token of a page; of what is no JSON it makes anything.
  static func read(_ bytes: [UInt8]) -> (records: [SpikeRecord], token: Int) {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = SpikeReader(bytes: bytes)
      var records: [SpikeRecord] = []
      records.reserveCapacity(400)
      var token = 0
      reader.members { reader, key in
        switch key {
        case "records": reader.elements { records.append($0.record()) }
        default: token = Int(reader.number())
        }
      }
      return (records, token)
    }
  }
}

/// Reads JSON from the front to the back.
private struct SpikeReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var at = 0

  private var next: UInt8 { at < bytes.count ? bytes[at] : 0 }

  /// The members of an object, in the order they come.
  mutating func members(_ body: (inout SpikeReader, String) -> Void) {
    at += 1
    while next == UInt8(ascii: "\"") {
      let key = text()
      at += 1
      body(&self, key)
      if next == UInt8(ascii: ",") { at += 1 }
    }
    at += 1
  }

  /// The elements of an array.
  mutating func elements(_ body: (inout SpikeReader) -> Void) {
    at += 1
    while at < bytes.count, next != UInt8(ascii: "]") {
      body(&self)
      if next == UInt8(ascii: ",") { at += 1 }
    }
    at += 1
  }

  mutating func record() -> SpikeRecord {
    var record = SpikeRecord()
    record.fields.reserveCapacity(4)
    members { reader, key in
      switch key {
      case "recordName": record.name = reader.text()
      case "recordType": record.type = reader.text()
      case "fields":
        reader.members { reader, key in
          reader.members { reader, _ in
            let value: SpikeRecord.Value =
              reader.next == UInt8(ascii: "\"") ? .text(reader.text()) : .number(reader.number())
            record.fields.append(SpikeRecord.Field(key: key, value: value))
          }
        }
      default: _ = reader.next == UInt8(ascii: "\"") ? reader.text().count : Int(reader.number())
      }
    }
    return record
  }

  mutating func text() -> String {
    at += 1
    let start = at
    var hasEscape = false
    while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
      if bytes[at] == UInt8(ascii: "\\") {
        hasEscape = true
        at += 1
      }
      at += 1
    }
    let raw = bytes[start..<min(at, bytes.count)]
    at += 1
    guard hasEscape else { return String(decoding: raw, as: UTF8.self) }
    var plain: [UInt8] = []
    var index = raw.startIndex
    while index < raw.endIndex {
      if raw[index] == UInt8(ascii: "\\") { index += 1 }
      if index < raw.endIndex { plain.append(raw[index]) }
      index += 1
    }
    return String(decoding: plain, as: UTF8.self)
  }

  mutating func number() -> Double {
    let start = at
    var whole = 0
    var isWhole = true
    while at < bytes.count, bytes[at] != UInt8(ascii: "}"), bytes[at] != UInt8(ascii: ",") {
      let digit = bytes[at]
      if digit >= 0x30, digit <= 0x39, whole < 100_000_000_000_000 {
        whole = whole * 10 + Int(digit) - 0x30
      } else {
        isWhole = false
      }
      at += 1
    }
    if isWhole { return Double(whole) }
    return Double(String(decoding: bytes[start..<at], as: UTF8.self)) ?? 0
  }
}
