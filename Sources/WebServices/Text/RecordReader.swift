import CloudProtocol
import Records

/// A fast decoder for records in the exact text form that this package writes, without an
/// intermediate JSON tree.
///
/// It accepts one form only: members in the order in which they are written, without duplicates and
/// blanks. Its results equal those of `JSON` and `Notation` for the same text. For any other form
/// it returns `nil`, and the text is decoded by `JSON` and `Notation`, which accept every valid
/// form and reject the rest, so validation is in one place. A method that returns `nil` may have
/// advanced the position; a caller that continues must reset it.
struct RecordReader {
  let notation: Notation
  /// The whole text, for pieces that the JSON parser reads.
  let text: [UInt8]
  /// The same text.
  let bytes: UnsafeBufferPointer<UInt8>
  /// The offset of the next piece in bytes.
  var position = 0
  /// The last zone, and its range in the text.
  private var zone: (id: ZoneID, place: Range<Int>)?
  /// The last texts and their ranges: mostly the next record has the same ones.
  private var last = [Repeated](repeating: Repeated(), count: Repeated.Kind.allCases.count)

  /// A text that is likely to be repeated.
  private struct Repeated {
    enum Kind: Int, CaseIterable {
      case type
      case user
      case device
    }

    var value = ""
    var place: Range<Int>?
  }

  /// Decodes `text` with `body`; `nil` if input remains.
  static func read<Value>(
    _ text: [UInt8], _ notation: Notation, _ body: (inout RecordReader) -> Value?
  ) -> Value? {
    text.withUnsafeBufferPointer { bytes in
      var reader = RecordReader(notation, text, bytes)
      guard let value = body(&reader), reader.position == bytes.count else { return nil }
      return value
    }
  }

  private init(_ notation: Notation, _ text: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) {
    self.notation = notation
    self.text = text
    self.bytes = bytes
  }

  // MARK: Pieces

  /// Skips `piece` if it is next; returns whether it is.
  mutating func take(_ piece: StaticString) -> Bool {
    let count = piece.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    let source = piece.utf8Start
    for index in 0..<count where bytes[position + index] != source[index] { return false }
    position += count
    return true
  }

  /// The next byte; 0 at the end.
  var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

  /// Reads a string, starting after its opening quotation mark.
  mutating func string() -> String? {
    let start = position
    var end = position + PlainText.count(in: bytes, from: position)
    if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
      position = end + 1
      // Plain text is UTF-8.
      return String(
        decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }
    while end < bytes.count, bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\\") {
      if bytes[end] == UInt8(ascii: "\"") {
        position = end + 1
        return String(
          validating: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
      }
      end += 1
    }
    var scanner = JSONScanner(text)
    scanner.position = start - 1
    guard let value = try? scanner.string() else { return nil }
    position = scanner.position
    return value
  }

  /// The range of a plain string, starting after its opening quotation mark.
  mutating func plainText() -> Range<Int>? {
    let start = position
    let end = start + PlainText.count(in: bytes, from: start)
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    position = end + 1
    return start..<end
  }

  /// Skips the text at `place` if it is repeated here; returns whether it is.
  private mutating func repeats(_ place: Range<Int>) -> Bool {
    guard bytes.count - position >= place.count else { return false }
    for index in 0..<place.count where bytes[place.lowerBound + index] != bytes[position + index] {
      return false
    }
    position += place.count
    return true
  }

  /// Reads a text that is likely to equal the last one of its kind.
  private mutating func repeated(_ kind: Repeated.Kind) -> String? {
    let number = kind.rawValue
    if let place = last[number].place, repeats(place) { return last[number].value }
    let start = position
    guard let value = string() else { return nil }
    last[number] = Repeated(value: value, place: start..<position)
    return value
  }

  /// Reads an integer of at most 18 digits.
  mutating func integer() -> Int64? {
    let start = position
    let isNegative = byte == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let first = position
    var value: Int64 = 0
    while position < bytes.count, case let digit = bytes[position] &- 0x30, digit < 10 {
      guard position - first < 18 else { return nil }
      value = value * 10 + Int64(digit)
      position += 1
    }
    let count = position - first
    guard count > 0, count == 1 || bytes[first] != 0x30, value != 0 || !isNegative else {
      position = start
      return nil
    }
    return isNegative ? -value : value
  }

  /// Reads a value as JSON; `depth` is the number of enclosing lists and objects.
  mutating func tree(depth: Int) -> JSON? {
    guard let (json, end) = JSON.value(in: text, at: position, depth: depth) else { return nil }
    position = end
    return json
  }

  /// Reads a base64 binary form, starting after its opening quotation mark.
  mutating func exact<Value>(
    _ read: (inout ByteReader) throws(ByteFormatError) -> Value
  ) -> Value? {
    guard let place = plainText(),
      let content = Base64.read(UnsafeBufferPointer(rebasing: bytes[place]))
    else { return nil }
    var reader = ByteReader(content)
    guard let value = try? read(&reader), reader.isAtEnd else { return nil }
    return value
  }

  /// Reads a zone ID; `depth` as for `tree`.
  mutating func zoneID(depth: Int) -> ZoneID? {
    if let zone, repeats(zone.place) { return zone.id }
    let start = position
    guard let json = tree(depth: depth), let id = try? notation.zone(json) else { return nil }
    zone = (id, start..<position)
    return id
  }

  // MARK: Records

  /// Reads a record of a response; `depth` as for `tree`.
  mutating func record(depth: Int) -> Record? {
    guard take(#"{"recordName":""#), let name = string(),
      take(#","recordType":""#), let type = repeated(.type), type != ShareDetails.recordType
    else { return nil }
    // A field that refers to other records needs the zone, which comes later.
    var elements: [Fields.Element] = []
    var waiting: [(index: Int, json: JSON)] = []
    let areRead = fields(depth: depth) { key, reading in
      switch reading {
      case .field(let field): elements.append(Fields.Element(key: key, field: field))
      case .tree(let json):
        waiting.append((elements.count, json))
        elements.append(Fields.Element(key: key, field: Field(.int64(0))))
      case .cleared: return false
      }
      return true
    }
    guard areRead, take(#","pluginFields":{}"#) else { return nil }
    var tag: ChangeTag?
    if take(#","recordChangeTag":""#) {
      guard let text = string() else { return nil }
      tag = ChangeTag(text)
    }
    var created: RecordStamp?
    if take(#","created":{"#) {
      created = stamp()
      guard created != nil else { return nil }
    }
    var modified: RecordStamp?
    if take(#","modified":{"#) {
      modified = stamp()
      guard modified != nil else { return nil }
    }
    guard take(#","deleted":false,"zoneID":"#), let zone = zoneID(depth: depth + 1)
    else { return nil }
    for (index, json) in waiting {
      guard let field = try? notation.field(json, in: zone) else { return nil }
      elements[index].field = field
    }
    var record = Record(
      id: RecordID(name: name, zone: zone), type: type, changeTag: tag, fields: Fields(elements),
      created: created, modified: modified)
    if take(#","parent":"#) {
      guard let json = tree(depth: depth + 1), json.members != nil,
        let id = try? notation.recordID(json, in: zone)
      else { return nil }
      record.parent = id
    }
    if take(#","share":"#) {
      guard let json = tree(depth: depth + 1), json.members != nil,
        let id = try? notation.recordID(json, in: zone)
      else { return nil }
      record.share = id
    }
    return take("}") ? record : nil
  }

  /// Reads a deletion in a change feed; `depth` as for `tree`.
  mutating func deletion(depth: Int) -> RecordDeletion? {
    guard take(#"{"recordName":""#), let name = string(),
      take(#","recordType":null,"deleted":true,"zoneID":"#), let zone = zoneID(depth: depth + 1)
    else { return nil }
    var type = ""
    if take(#","cloudsync":""#) {
      guard let exact = exact({ (reader) throws(ByteFormatError) in try reader.string() }) else {
        return nil
      }
      type = exact
    }
    guard take("}") else { return nil }
    return RecordDeletion(id: RecordID(name: name, zone: zone), type: type)
  }

  /// Reads a save of a request; `depth` as for `tree`.
  mutating func save(depth: Int) -> RecordSave? {
    guard take(#"{"recordName":""#), let name = string(),
      take(#","recordType":""#), let type = repeated(.type), type != ShareDetails.recordType
    else { return nil }
    var tag: ChangeTag?
    if take(#","recordChangeTag":""#) {
      guard let text = string() else { return nil }
      tag = ChangeTag(text)
    }
    guard take(#","zoneID":"#), let zone = zoneID(depth: depth + 1) else { return nil }
    var changes: [RecordSave.Change] = []
    let notation = notation
    let areRead = fields(depth: depth) { key, reading in
      switch reading {
      case .field(let field): changes.append(RecordSave.Change(key: key, field: field))
      case .cleared: changes.append(RecordSave.Change(key: key, field: nil))
      case .tree(let json):
        guard let field = try? notation.field(json, in: zone) else { return false }
        changes.append(RecordSave.Change(key: key, field: field))
      }
      return true
    }
    guard areRead else { return nil }
    var parent = RecordSave.ParentChange.keep
    if take(#","parent":"#) {
      guard let json = tree(depth: depth + 1) else { return nil }
      if json.isNull {
        parent = .set(nil)
      } else {
        guard json.members != nil, let id = try? notation.recordID(json, in: zone) else {
          return nil
        }
        parent = .set(id)
      }
    }
    guard take("}") else { return nil }
    return RecordSave(
      id: RecordID(name: name, zone: zone), type: type, changeTag: tag, changes: changes,
      parent: parent)
  }

  /// Reads the user and time of a change, starting after the opening brace.
  private mutating func stamp() -> RecordStamp? {
    guard take(#""timestamp":"#), let milliseconds = integer(),
      take(#","userRecordName":""#), let user = repeated(.user)
    else { return nil }
    var device: String?
    if take(#","deviceID":""#) {
      guard let text = repeated(.device) else { return nil }
      device = text
    }
    var time = Notation.time(milliseconds: milliseconds)
    if take(#","cloudsync":""#) {
      let seconds = exact { (reader) throws(ByteFormatError) in try reader.double() }
      guard let seconds else { return nil }
      time = Timestamp(secondsSinceReferenceDate: seconds)
    }
    return take("}") ? RecordStamp(time: time, user: UserID(user), device: device) : nil
  }
}
