import CloudMachine
import CloudProtocol
import Records
import WebServices

@testable import LoopbackServer

extension FuzzTarget {
  /// The rows of the server's file, and its remembered answers.
  static let rows = FuzzTarget(name: "rows") { input, planted in
    var input = input
    let kind = input.choice(6)
    let bit = Int(input.byte()) << 8 | Int(input.byte())
    let bytes = input.rest
    switch kind {
    case 0:
      let id = RowWorld.record
      try row(bytes, bit, ["a"], [9]) { (bytes) throws(ByteFormatError) in
        try RecordBody.open(bytes, id: id, changedAt: 9)
      } close: { row in
        try plant(planted, row.type.utf8)
        return RecordBody.close(row)
      }
    case 1:
      try row(bytes, bit, ["a", "_a"], []) { (bytes) throws(ByteFormatError) in
        try AccountBody.open(bytes, name: "a", user: UserID("_a"))
      } close: {
        AccountBody.close($0)
      }
    case 2:
      let id = RowWorld.database
      try row(
        bytes, bit, [id.container, id.environment.rawValue, "_a"], [UInt64(id.scope.rawValue)]
      ) {
        (bytes) throws(ByteFormatError) in
        try DatabaseBody.open(bytes, id: id)
      } close: {
        DatabaseBody.close($0)
      }
    case 3:
      let id = RowWorld.record.zone
      try row(bytes, bit, [id.name, id.owner], [9]) { (bytes) throws(ByteFormatError) in
        try ZoneBody.open(bytes, id: id, changedAt: 9)
      } close: {
        ZoneBody.close($0)
      }
    case 4: _ = try? RecordBody.open(bytes, id: RowWorld.record, changedAt: 9)
    default:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.reply() }) { $0.write($1) }
    }
  }

  /// Seals `payload` as the file does, and opens, closes and damages it.
  ///
  /// A row may be in a form that is no longer written, such as a list that says that it is empty:
  /// then what is written in its place must hold the same.
  private static func row<Row: Equatable>(
    _ payload: [UInt8], _ bit: Int, _ texts: [String], _ numbers: [UInt64],
    open: ([UInt8]) throws(ByteFormatError) -> Row, close: (Row) throws -> [UInt8]
  ) throws {
    var context = ByteWriter()
    for text in texts { context.write(optional: text) { $0.write($1) } }
    for number in numbers { context.write(variable: number) }
    let sealed = ChecksummedBytes.encode(context: context.bytes) { $0.write(raw: payload) }
    guard let row = try? open(sealed) else { return }
    let closed = try close(row)
    if closed != sealed {
      let again = try open(closed)
      // What is not a number equals nothing, and is written as it is.
      try check(
        again == row || "\(again)" == "\(row)", "a row that is another one when written")
      try check(try close(again) == closed, "a row that is written in two forms")
    }
    var damaged = sealed
    damaged[bit / 8 % damaged.count] ^= 1 << UInt8(bit % 8)
    try check((try? open(damaged)) == nil, "a bit that changed unseen")
  }

  /// The canonical form of JSON values that mean the same.
  ///
  /// The members of objects are in the order of their names, and without those that mean what is so
  /// without them: a flag that is off, a list or an object with nothing in it, an own zone's owner,
  /// and a date's text, which is for people. A number is the same with a point, without one, and as
  /// its bits.
  private static func plain(_ json: JSON) -> JSON {
    switch json {
    case .array(let elements): .array(elements.map(plain))
    case .object(let members):
      .object(
        JSON.Members(
          members.elements.map { JSON.Members.Element(name: $0.name, value: plain($0.value)) }
            .filter { ![.bool(false), .array([]), .object(JSON.Members([]))].contains($0.value) }
            .filter { $0.name != "utc" || members["seconds"] == nil }
            .filter { $0.name != "zoneOwner" || $0.value != .string(ZoneID.currentOwner) }
            .sorted { $0.name < $1.name }))
    case .integer(let value) where value.magnitude < 1 << 53: .number(Double(value))
    case .string(let text) where text.hasPrefix("bits:"):
      UInt64(text.dropFirst(5), radix: 16).map { .double(Double(bitPattern: $0)) } ?? json
    case .null, .bool, .integer, .number, .string: json
    }
  }

  /// The content of a line of an archive, as it would be written.
  private static func content(of line: [UInt8]) throws -> [UInt8] {
    let json = try JSON(parsing: line)
    if let row = try? ArchiveRow(json) { return row.json.bytes }
    // The first line is no row. An archive of an earlier form is written in the newest one.
    guard case .object(let members) = plain(json) else { return plain(json).bytes }
    return JSON.object(JSON.Members(members.elements.filter { $0.name != "version" })).bytes
  }

  /// Archives of a server.
  static let archive = FuzzTarget(name: "archive") { input, planted in
    var input = input
    guard input.byte() & 7 == 0 else {
      guard let json = try? JSON(parsing: input.rest), let row = try? ArchiveRow(json) else {
        return
      }
      for name in names(row) { try plant(planted, name.utf8) }
      let written = row.json
      try check(try ArchiveRow(written).json == written, "a line that is another one when read")
      // Members may come in any order, and be left out where they mean nothing.
      try check(
        plain(written) == plain(json), "a line that is accepted and not written")
      return
    }
    // The first line, what the input says, and the last line with the right sums.
    var lines = [Array(RowWorld.head.utf8)]
    lines += input.rest.split(separator: UInt8(ascii: "\n")).prefix(8).map { Array($0) }
    var hash = SHA256()
    for line in lines { hash.update(line + [0x0A]) }
    let end = JSON.members([
      "kind": .string("end"), "lines": .integer(lines.count),
      "sha256": .string(hash.hexadecimalDigest),
    ])
    lines.append(end.bytes)
    let storage = MemoryStorage()
    var reader = ArchiveReader(storage)
    do {
      for line in lines { try reader.take(line[...]) }
      try reader.finish()
    } catch {
      return
    }
    var exported: [UInt8] = []
    var writer = ArchiveWriter(storage) { exported += $0 }
    try writer.run()
    let second = MemoryStorage()
    var copy = ArchiveReader(second)
    for line in exported.split(separator: 0x0A) { try copy.take(line) }
    try copy.finish()
    var again: [UInt8] = []
    var copyWriter = ArchiveWriter(second) { again += $0 }
    try copyWriter.run()
    try check(again == exported, "an archive of what was exported that is another one")
    // Files that nothing holds are not kept, and receipts get places of their own.
    let text = input.text
    if text.contains("\"file\"") || text.contains("\"receipt\"") { return }
    // The same holds here, and for lines; the last line's sum is of what is written.
    let written = try exported.split(separator: 0x0A).dropLast().map { try content(of: Array($0)) }
    let given = try lines.dropLast().map { try content(of: $0) }
    try check(
      written.sorted { $0.lexicographicallyPrecedes($1) }
        == given.sorted { $0.lexicographicallyPrecedes($1) },
      "an archive that is another one when imported")
  }
}

extension FuzzTarget {
  /// The names in a line of an archive.
  private static func names(_ row: ArchiveRow) -> [String] {
    switch row {
    case .account(let row): [row.name, row.user.rawValue]
    case .recordType(let row): [row.id.container, row.id.name]
    case .schema(let row): [row.container]
    case .database(let row): [row.id.container, row.id.owner?.rawValue ?? ""]
    case .zone(let row, _): [row.id.name, row.id.owner]
    case .record(let row, _): [row.id.name, row.type]
    case .subscription(let row, _): [row.id.rawValue]
    case .file(let checksum, _): [checksum]
    case .upload: []
    case .receipt(let row, _): [row.key.user.rawValue, row.key.device, row.key.requestID]
    }
  }
}

private enum RowWorld {
  static let record = RecordID(name: "a", zone: ZoneID(name: "Notes"))

  static let database = DatabaseID(
    container: "iCloud.a", environment: .development, scope: .private, owner: UserID("_a"))

  static let head = """
    {"format":"swift-cloud-sync server","version":1,"identity":"0000000000000007",\
    "secret":"00000000000000010000000000000002"}
    """
}
