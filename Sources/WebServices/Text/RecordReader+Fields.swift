import CloudProtocol
import Records

extension RecordReader {
  /// The result of decoding a field.
  enum Reading {
    /// The field.
    case field(Field)
    /// The field is cleared.
    case cleared
    /// A field of a rare kind, as JSON.
    case tree(JSON)
  }

  /// Decodes the fields of a record, starting at the comma before them, and passes each to `add`
  /// until it returns `false`; returns whether all were decoded and accepted.
  ///
  /// - Parameter depth: The number of lists and objects that enclose the record.
  mutating func fields(depth: Int, _ add: (String, Reading) -> Bool) -> Bool {
    guard take(#","fields":{"#) else { return false }
    if take("}") { return true }
    var last: String?
    while true {
      guard take("\""), let key = string(), take(":") else { return false }
      // The keys are in order, so there are no duplicates.
      if let last, last >= key { return false }
      last = key
      let start = position
      if let reading = field() {
        guard add(key, reading) else { return false }
      } else {
        position = start
        guard let json = tree(depth: depth + 2), add(key, .tree(json)) else { return false }
      }
      if take("}") { return true }
      guard take(",") else { return false }
    }
  }

  /// Decodes a field of a common kind.
  private mutating func field() -> Reading? {
    guard take(#"{"value":"#) else { return nil }
    if take("null}") { return .cleared }
    guard var value = byte == UInt8(ascii: "\"") ? textValue() : numberValue() else { return nil }
    let isEncrypted = take(#","isEncrypted":true"#)
    if take(#","cloudsync":""#) {
      guard
        let exact = exact({ (reader) throws(ByteFormatError) in
          try reader.fieldValue()
        })
      else { return nil }
      value = exact
    }
    return take("}") ? .field(Field(value, isEncrypted: isEncrypted)) : nil
  }

  private mutating func textValue() -> FieldValue? {
    position += 1
    guard let place = plainText() else {
      guard let text = string(), take(#","type":"STRING""#) else { return nil }
      return .string(text)
    }
    let plain = UnsafeBufferPointer(rebasing: bytes[place])
    if take(#","type":"STRING""#) { return .string(String(decoding: plain, as: UTF8.self)) }
    guard take(#","type":"BYTES""#) else { return nil }
    return Base64.read(plain).map { .bytes($0) }
  }

  private mutating func numberValue() -> FieldValue? {
    let start = position
    if let number = integer() {
      if take(#","type":"INT64""#) { return .int64(number) }
      if take(#","type":"TIMESTAMP""#) {
        return Notation.exactTime(milliseconds: number).map { .date($0) }
      }
      if take(#","type":"DOUBLE""#) { return .double(Double(number)) }
    }
    var scanner = JSONScanner(self.text)
    scanner.position = start
    guard beginsNumber(at: start), let number = try? scanner.number() else { return nil }
    position = scanner.position
    switch number {
    case .integer(let number):
      return take(#","type":"INT64""#) ? .int64(number) : nil
    case .number(let number):
      return take(#","type":"DOUBLE""#) ? .double(number) : nil
    case .null, .bool, .string, .array, .object: return nil
    }
  }

  /// Whether a number can start at `place`.
  private func beginsNumber(at place: Int) -> Bool {
    place < bytes.count && (bytes[place] == UInt8(ascii: "-") || bytes[place] &- 0x30 < 10)
  }
}
