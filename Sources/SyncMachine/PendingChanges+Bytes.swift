import Records

/// Record changes as bytes: each zone once, then each change as its zone's number and its name.
extension PendingChanges<RecordID> {
  /// Everything not settled, in order.
  func encoded() -> [UInt8] {
    let (zones, numbers) = zonesInOrder()
    var head = ByteWriter()
    head.write(list: zones) { $0.write($1) }
    var count = 0
    var length = 0
    list.forEach { position, entry in
      guard entry.isUnsettled else { return true }
      count += 1
      length += list.withName(at: position) { $0.count } + 12
      return true
    }
    head.write(count: count)
    var bytes = head.bytes
    bytes.reserveCapacity(bytes.count + length)
    list.forEach { position, entry in
      guard entry.isUnsettled else { return true }
      bytes.append(
        variable: UInt64(numbers[Int(entry.group)] * 2 + Int(entry.kind.rawValue)))
      list.withName(at: position) { name in
        bytes.append(variable: UInt64(name.count))
        bytes.append(contentsOf: name)
      }
      return true
    }
    return bytes
  }

  /// The zones of what is not settled, in the order they come up, and the number each group has
  /// among them.
  private func zonesInOrder() -> (zones: [ZoneID], numbers: [Int]) {
    var zones: [ZoneID] = []
    var numbers = [Int](repeating: -1, count: groups.count)
    list.forEach { _, entry in
      if entry.isUnsettled, numbers[Int(entry.group)] < 0 {
        numbers[Int(entry.group)] = zones.count
        zones.append(groups[Int(entry.group)])
      }
      return zones.count < groups.count
    }
    return (zones, numbers)
  }

  /// Adds the changes at the end of `reader`, and reads it to its end; after a fault those before
  /// it are there.
  mutating func read(from reader: inout ByteReader) throws(ByteFormatError) {
    let zones = try reader.list { (reader) throws(ByteFormatError) in try reader.zoneID() }
    let count = try reader.count()
    let start = reader.offset
    let bytes = try reader.raw(reader.remaining)
    let groups = zones.map { adopt($0) }
    try bytes.withUnsafeBufferPointer { (bytes) throws(ByteFormatError) in
      var cursor = PendingCursor(bytes: bytes, start: start)
      for _ in 0..<count {
        let head = try cursor.variableNumber()
        guard let number = Int(exactly: head / 2), number < groups.count else {
          throw cursor.fault("a change names no known zone")
        }
        let name = try cursor.text()
        add(head % 2 == 0 ? .save : .delete, name, groups[number])
      }
      guard cursor.isAtEnd else { throw cursor.fault("there are bytes left over") }
    }
  }
}

/// Decodes numbers and texts from untrusted bytes without copying.
private struct PendingCursor: ByteSource {
  let bytes: UnsafeBufferPointer<UInt8>
  /// How many bytes were read before the first.
  let start: Int
  private var position = 0

  init(bytes: UnsafeBufferPointer<UInt8>, start: Int) {
    self.bytes = bytes
    self.start = start
  }

  var isAtEnd: Bool { position == bytes.count }

  func fault(_ reason: String) -> ByteFormatError {
    ByteFormatError(offset: start + position, reason: reason)
  }

  mutating func byte() throws(ByteFormatError) -> UInt8 {
    guard position < bytes.count else { throw fault("the data ends early") }
    defer { position += 1 }
    return bytes[position]
  }

  /// The bytes of a text, which are valid.
  mutating func text() throws(ByteFormatError) -> UnsafeBufferPointer<UInt8> {
    guard let length = Int(exactly: try variableNumber()), length <= bytes.count - position else {
      throw fault("a count is larger than the data")
    }
    let text = UnsafeBufferPointer(rebasing: bytes[position..<(position + length)])
    position += length
    let isASCII = text.allSatisfy { $0 < 0x80 }
    guard isASCII || String(validating: text, as: UTF8.self) != nil else {
      throw fault("a text is not valid UTF-8")
    }
    return text
  }
}

extension [UInt8] {
  fileprivate mutating func append(variable value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }
}
