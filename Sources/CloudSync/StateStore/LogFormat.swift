import Records

/// The format of a state file: a header, then records.
///
/// A record has a length, a kind, a checksum of these, a checksum of the content, and the content.
package enum LogFormat {
  enum Kind: UInt8 {
    case snapshot = 0
    case entry = 1
  }

  /// The version of the logs that are written.
  package static let version: UInt8 = 1
  private static let magic: [UInt8] = Array("CSLOG".utf8)
  private static let recordHead = 13
  /// The minimum number of bytes that a disk writes atomically.
  private static let sector = 512

  static var header: [UInt8] { magic + [version] }

  static func record(_ kind: Kind, _ content: [UInt8]) -> [UInt8] {
    var writer = ByteWriter(capacity: content.count + recordHead)
    writer.write(fixed: UInt32(clamping: content.count))
    writer.write(kind.rawValue)
    writer.write(fixed: Checksum.of(writer.bytes))
    writer.write(fixed: Checksum.of(content))
    writer.write(raw: content)
    return writer.bytes
  }

  /// The contents of a log up to its end or its first damage.
  package struct Reading {
    /// The last snapshot and the entries after it.
    package var contents = StateStoreContents()
    /// The number of intact bytes.
    package var length = 0
    /// The offset of the last entry; `nil` if the log ends with a snapshot or is empty.
    var lastEntry: Int?
    /// The reason why the bytes after `length` are unusable; `nil` if a crash interrupted a write.
    package var fault: FileStateStoreError?
  }

  /// Parses a log and determines the number of intact bytes.
  static func parse(_ bytes: [UInt8], path: String) throws(FileStateStoreError) -> Reading {
    let reading = read(bytes, path: path)
    if let fault = reading.fault { throw fault }
    return reading
  }

  /// Parses `bytes` as far as they are intact.
  package static func read(_ bytes: [UInt8], path: String) -> Reading {
    var reading = Reading()
    guard bytes.starts(with: magic.prefix(bytes.count)) else {
      reading.fault = FileStateStoreError(
        .foreign, "\(path) is not a state file; give another name.")
      return reading
    }
    // A crash interrupted the write of the header: no write was acknowledged.
    guard bytes.count > magic.count else { return reading }
    guard bytes[magic.count] == version else {
      reading.fault = FileStateStoreError(
        .future,
        "The state file \(path) has format \(bytes[magic.count]), this version reads \(version). "
          + "Update the app, or start over with another file.")
      return reading
    }
    reading.length = magic.count + 1
    do throws(FileStateStoreError) {
      while reading.length < bytes.count {
        let rest = bytes[reading.length...]
        guard let next = try take(rest, into: &reading.contents, path: path) else { break }
        reading.lastEntry = reading.contents.entries.isEmpty ? nil : reading.length
        reading.length = next
      }
    } catch {
      reading.fault = error
    }
    return reading
  }

  /// Parses the first record of `rest`; `nil` if a crash interrupted its write.
  private static func take(
    _ rest: ArraySlice<UInt8>, into contents: inout StateStoreContents, path: String
  ) throws(FileStateStoreError) -> Int? {
    guard rest.count >= recordHead else { return nil }
    let damaged = FileStateStoreError(
      .damaged,
      "The state file \(path) is damaged at byte \(rest.startIndex). Restore it from a backup, "
        + "or move it away to start over.")
    var reader = ByteReader(rest)
    do throws(ByteFormatError) {
      let length = try reader.fixed32()
      let kind = Kind(rawValue: try reader.byte())
      let head = Checksum.of(rest.prefix(5))
      guard try reader.fixed32() == head, let kind else {
        let isCutOff = lacksSector(rest, within: recordHead) && !holdsRecord(rest.dropFirst())
        if isCutOff { return nil }
        throw reader.fault("the record's head is damaged")
      }
      let sum = try reader.fixed32()
      guard let count = Int(exactly: length), count <= reader.remaining else { return nil }
      let content = try reader.raw(count)
      guard Checksum.of(content) == sum else {
        if reader.isAtEnd, lacksSector(rest, within: rest.count) { return nil }
        throw reader.fault("the record's content is damaged")
      }
      switch kind {
      case .snapshot: contents = StateStoreContents(snapshot: Array(content))
      case .entry: contents.entries.append(Array(content))
      }
      return rest.startIndex + reader.offset
    } catch {
      throw damaged
    }
  }

  /// Whether a crash can explain the first `count` of these bytes at the end of a file.
  ///
  /// A disk writes whole sectors in any order; an unwritten sector reads as zeros. Any other
  /// difference from the written bytes is damage.
  private static func lacksSector(_ bytes: ArraySlice<UInt8>, within count: Int) -> Bool {
    let limit = min(bytes.endIndex, bytes.startIndex + count)
    var start = bytes.startIndex
    while start < limit {
      let end = min(bytes.endIndex, (start / sector + 1) * sector)
      if bytes[start..<end].allSatisfy({ $0 == 0 }) { return true }
      start = end
    }
    return false
  }

  /// Whether an intact record starts anywhere in these bytes.
  ///
  /// An append is durable before the next one begins, so none can follow an interrupted one.
  private static func holdsRecord(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while rest.count >= recordHead {
      var reader = ByteReader(rest)
      if let length = try? reader.fixed32(), let kind = try? reader.byte(),
        Kind(rawValue: kind) != nil, let head = try? reader.fixed32(),
        head == Checksum.of(rest.prefix(5)), let sum = try? reader.fixed32(),
        let count = Int(exactly: length), let content = try? reader.raw(count),
        Checksum.of(content) == sum
      {
        return true
      }
      rest = rest.dropFirst()
    }
    return false
  }
}
