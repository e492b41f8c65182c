import CloudProtocol
import Records

/// A fast encoder of records as text, without an intermediate JSON tree.
///
/// Its output is byte for byte the same as that of `Notation` and `JSON`, at a fraction of the
/// cost; rare values are encoded by them. Records are nearly all of the traffic between devices and
/// servers.
struct RecordWriter {
  let notation: Notation
  /// The output.
  var bytes: [UInt8] = []
  /// The last zone and its encoding: mostly the next record has the same zone.
  private var zone: (id: ZoneID, text: [UInt8])?

  /// Creates a writer with an initial capacity in bytes.
  init(_ notation: Notation, capacity: Int) {
    self.notation = notation
    bytes.reserveCapacity(capacity)
  }

  /// Writes a piece of JSON unchanged.
  mutating func write(raw piece: StaticString) { JSON.write(raw: piece, to: &bytes) }

  /// Writes a string with quotation marks.
  mutating func write(_ text: String) { JSON.write(text, to: &bytes) }

  /// Writes a value.
  mutating func write(_ json: JSON) { json.write(to: &bytes) }

  /// Writes `items` separated by commas.
  mutating func write<Items: Collection>(
    list items: Items, _ body: (inout RecordWriter, Items.Element) -> Void
  ) {
    var isFirst = true
    for item in items {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      body(&self, item)
    }
  }

  /// Writes a member; does nothing for `nil`.
  mutating func write(member name: StaticString, _ value: JSON?) {
    guard let value else { return }
    write(raw: name)
    write(value)
  }

  /// Writes a zone ID.
  mutating func write(_ id: ZoneID) {
    if let zone, zone.id == id {
      bytes.append(contentsOf: zone.text)
      return
    }
    let text = notation.json(id).bytes
    bytes.append(contentsOf: text)
    zone = (id, text)
  }

  /// Writes a record of a response.
  mutating func write(_ record: Record) {
    guard record.sharing == nil, record.type != ShareDetails.recordType else {
      return write(notation.json(record))
    }
    write(raw: #"{"recordName":"#)
    write(record.id.name)
    write(raw: #","recordType":"#)
    write(record.type)
    write(raw: #","fields":{"#)
    write(list: record.fields) { writer, element in
      writer.write(element.field, element.key, of: record.id)
    }
    write(raw: #"},"pluginFields":{}"#)
    if let tag = record.changeTag {
      write(raw: #","recordChangeTag":"#)
      write(tag.rawValue)
    }
    if let created = record.created {
      write(raw: #","created":"#)
      write(created)
    }
    if let modified = record.modified {
      write(raw: #","modified":"#)
      write(modified)
    }
    write(raw: #","deleted":false,"zoneID":"#)
    write(record.id.zone)
    write(member: #","parent":"#, record.parent.map { notation.json($0, from: record.id.zone) })
    write(member: #","share":"#, record.share.map { notation.json($0) })
    write(raw: "}")
  }

  /// Writes a record of a response, or its error.
  mutating func write(_ result: ItemResult<RecordID, Record>) {
    switch result.outcome {
    case .success(let record): write(record)
    case .failure: write(ServerRequest.json(result, notation))
    }
  }

  /// Writes a deletion in a change feed.
  mutating func write(_ deletion: RecordDeletion) {
    write(raw: #"{"recordName":"#)
    write(deletion.id.name)
    write(raw: #","recordType":null,"deleted":true,"zoneID":"#)
    write(deletion.id.zone)
    if notation.isExact {
      write(raw: #","cloudsync":"#)
      write { $0.write(deletion.type) }
    }
    write(raw: "}")
  }

  /// Writes a save of a request.
  mutating func write(_ save: RecordSave) {
    guard save.sharing == nil, save.type != ShareDetails.recordType else {
      return write(notation.json(save))
    }
    write(raw: #"{"recordName":"#)
    write(save.id.name)
    write(raw: #","recordType":"#)
    write(save.type)
    if let tag = save.changeTag {
      write(raw: #","recordChangeTag":"#)
      write(tag.rawValue)
    }
    write(raw: #","zoneID":"#)
    write(save.id.zone)
    write(raw: #","fields":{"#)
    write(list: save.changes) { writer, change in
      if let field = change.field {
        writer.write(field, change.key, of: save.id)
      } else {
        writer.write(change.key)
        writer.write(raw: #":{"value":null}"#)
      }
    }
    write(raw: "}")
    if case .set(let parent) = save.parent {
      write(raw: #","parent":"#)
      write(parent.map { notation.json($0, from: save.id.zone) } ?? .null)
    }
    write(raw: "}")
  }

  private mutating func write(_ stamp: RecordStamp) {
    let milliseconds = Notation.milliseconds(stamp.time)
    write(raw: #"{"timestamp":"#)
    JSON.write(milliseconds, to: &bytes)
    write(raw: #","userRecordName":"#)
    write(notation.userName(in: stamp))
    if let device = stamp.device {
      write(raw: #","deviceID":"#)
      write(device)
    }
    if notation.isExact, Notation.time(milliseconds: milliseconds) != stamp.time {
      write(raw: #","cloudsync":"#)
      write { $0.write(stamp.time.secondsSinceReferenceDate) }
    }
    write(raw: "}")
  }

  /// Writes the name and the value of a field.
  private mutating func write(_ field: Field, _ key: String, of id: RecordID) {
    write(key)
    guard !notation.numbersAsStrings else {
      write(raw: ":")
      return write(notation.json(field, key, of: id))
    }
    var isWhole = true
    switch field.value {
    case .string(let text):
      write(raw: #":{"value":"#)
      write(text)
      write(raw: #","type":"STRING""#)
    case .int64(let number):
      write(raw: #":{"value":"#)
      JSON.write(number, to: &bytes)
      write(raw: #","type":"INT64""#)
    case .double(let number):
      write(raw: #":{"value":"#)
      JSON.write(number, to: &bytes)
      write(raw: #","type":"DOUBLE""#)
      isWhole = number.isFinite
    case .date(let time):
      guard let milliseconds = Notation.wholeMilliseconds(time) else {
        write(raw: ":")
        return write(notation.json(field, key, of: id))
      }
      write(raw: #":{"value":"#)
      JSON.write(milliseconds, to: &bytes)
      write(raw: #","type":"TIMESTAMP""#)
      isWhole = Notation.time(milliseconds: milliseconds) == time
    case .bytes(let content):
      write(raw: #":{"value":""#)
      Base64.write(content, to: &bytes)
      write(raw: #"","type":"BYTES""#)
    case .reference, .asset, .location, .list:
      write(raw: ":")
      return write(notation.json(field, key, of: id))
    }
    if field.isEncrypted { write(raw: #","isEncrypted":true"#) }
    if !isWhole, notation.isExact {
      write(raw: #","cloudsync":"#)
      write { $0.write(field.value) }
    }
    write(raw: "}")
  }

  /// Writes a binary form as base64.
  private mutating func write(_ body: (inout ByteWriter) -> Void) {
    var writer = ByteWriter(capacity: 16)
    body(&writer)
    bytes.append(UInt8(ascii: "\""))
    Base64.write(writer.bytes, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }
}
