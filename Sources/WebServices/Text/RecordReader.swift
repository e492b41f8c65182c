import CloudProtocol
import Records

/// Reads records from text as this package writes it, without a tree of values in between.
///
/// It knows one spelling of everything: members in the order they are written in, nothing twice, no
/// blanks. What it takes is what `JSON` and `Notation` would have made of the same text; at
/// anything else it answers `nil`, and the text is read by them, who know all that is allowed and
/// refuse the rest. So whatever is strict is strict in one place. Each method that answers `nil`
/// may have moved on; who goes on from there sets the position back.
struct RecordReader {
  let notation: Notation
  /// The whole text, for pieces that others read.
  let text: [UInt8]
  /// The same text.
  let bytes: UnsafeBufferPointer<UInt8>
  /// Where the next piece begins, in bytes from the start.
  var position = 0
  /// The zone named last, and where.
  private var zone: (id: ZoneID, place: Range<Int>)?
  /// Texts that were read last, and where: mostly the next record has the same.
  private var last = [Repeated](repeating: Repeated(), count: Repeated.Kind.allCases.count)

  /// A text that is likely to come again.
  private struct Repeated {
    enum Kind: Int, CaseIterable {
      case type
      case user
      case device
    }

    var value = ""
    var place: Range<Int>?
  }

  /// Has `body` read `text` from its start; `nil` when something is left of it.
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

  /// Goes past `piece`, if that is what comes next.
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

  /// Reads a text from behind its first quotation mark on.
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

  /// Where a plain text stands, from behind its first quotation mark on.
  mutating func plainText() -> Range<Int>? {
    let start = position
    let end = start + PlainText.count(in: bytes, from: start)
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    position = end + 1
    return start..<end
  }

  /// Whether what stands at `place` stands here too, which is gone past then.
  private mutating func repeats(_ place: Range<Int>) -> Bool {
    guard bytes.count - position >= place.count else { return false }
    for index in 0..<place.count where bytes[place.lowerBound + index] != bytes[position + index] {
      return false
    }
    position += place.count
    return true
  }

  /// Reads a text that is likely to be the one of its kind that was read last.
  private mutating func repeated(_ kind: Repeated.Kind) -> String? {
    let number = kind.rawValue
    if let place = last[number].place, repeats(place) { return last[number].value }
    let start = position
    guard let value = string() else { return nil }
    last[number] = Repeated(value: value, place: start..<position)
    return value
  }

  /// Reads a whole number of at most 18 digits.
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

  /// Reads a value as a tree; `depth` is how many lists and objects are around it.
  mutating func tree(depth: Int) -> JSON? {
    guard let (json, end) = JSON.value(in: text, at: position, depth: depth) else { return nil }
    position = end
    return json
  }

  /// Reads the binary form of something, from behind the first quotation mark on.
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

  /// Reads how a zone is named; `depth` as for `tree`.
  mutating func zoneID(depth: Int) -> ZoneID? {
    if let zone, repeats(zone.place) { return zone.id }
    let start = position
    guard let json = tree(depth: depth), let id = try? notation.zone(json) else { return nil }
    zone = (id, start..<position)
    return id
  }

  // MARK: Records

  /// Reads a record as an answer holds it; `depth` as for `tree`.
  mutating func record(depth: Int) -> Record? {
    guard take(#"{"recordName":""#), let name = string(),
      take(#","recordType":""#), let type = repeated(.type), type != ShareDetails.recordType
    else { return nil }
    // A field that names other records needs the zone, which comes later.
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

  /// Reads a record that is gone, as a change feed holds it; `depth` as for `tree`.
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

  /// Reads a save as a request holds it; `depth` as for `tree`.
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

  /// Reads who changed a record and when, from behind the first brace on.
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
