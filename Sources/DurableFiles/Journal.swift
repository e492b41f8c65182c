import Disk
import Dispatch
public import Foundation
import Synchronization

/// A file of changes with one line for each group: a group is stored whole or not at all, and costs
/// its own size, not that of the file.
///
/// A line is a checksum, a space, and the group as a JSON array. A group without changes marks the
/// end of the last rewrite. A last line without its end or with zero bytes is a write that a crash
/// interrupted, and is removed. Any other line that does not match its checksum is damage. A value;
/// its owner guards it and rewrites the file when most of it is obsolete. A file to which another
/// journal has written is not rewritten, so that no line is lost; this journal contains those lines
/// after it is read again.
public struct Journal<Change: Codable & Sendable>: Sendable {
  private let file: AtomicFile
  private let header: Data
  private let format: String
  private let version: Int
  private let oldestVersion: Int
  private var size = 0
  /// Whether another journal has written to the file since it was read or rewritten.
  package private(set) var hasOthersLines = false
  /// Whether a part of a failed write may stand behind the last line.
  private var hasRest = false
  /// The last line, if it may not be durable because this process might not write the file.
  private var uncertainLine: Data?
  /// Whether the file could not be removed: the next group replaces it.
  private var isRemoved = false
  /// Whether the file may not be durable under its name: lines would be lost with it.
  private var isNameUncertain = true
  /// The size after the last rewrite; 0 if there was none.
  private var compactSize = 0
  /// The size at the last rewrite that failed; 0 if none did since one succeeded.
  private var failedSize = 0
  /// The first line of the file that was read, if it names an older version.
  private var olderHeader: Data?

  /// Names the journal; nothing is read or created.
  ///
  /// - Parameters:
  ///   - url: the file.
  ///   - format: the name of the format, without spaces; the first line of the file.
  ///   - version: the version that is written, and the newest one that is read.
  ///   - oldestVersion: the oldest version that is read, whose changes `Change` decodes, too; `nil`
  ///     for `version`. The first group that is added to an older file gives it the new version.
  public init(_ url: URL, format: String, version: Int = 1, oldestVersion: Int? = nil) {
    self.init(AtomicFile(url), format: format, version: version, oldestVersion: oldestVersion)
  }

  /// Names a journal on a disk of any kind.
  package init(_ file: AtomicFile, format: String, version: Int, oldestVersion: Int? = nil) {
    self.file = file
    self.format = format
    self.version = version
    self.oldestVersion = oldestVersion ?? version
    header = Data("\(format) \(version)\n".utf8)
  }

  /// The place of the file.
  public var url: URL { file.url }

  /// Whether most of the file is obsolete and it should be rewritten; never below 256 KiB, not
  /// after a change by another journal, until the file is read again, and after a rewrite that
  /// failed only when the file has grown by a quarter.
  public var isMostlyObsolete: Bool {
    !hasOthersLines && size > 256 << 10 && size > 3 * compactSize
      && size > failedSize + failedSize / 4
  }

  /// The content of a journal.
  public struct Reading: Sendable {
    /// All changes, oldest first.
    public var changes: [Change] = []
    /// Whether there is a file.
    public var exists = true
    /// The damage and its copy, if a damaged file was read.
    public var recovery: FileRecovery?
  }

  /// Reads the file.
  ///
  /// - Parameters:
  ///   - isRecovering: whether a damaged file is copied and its intact lines are returned. The file
  ///     stays until it is rewritten.
  ///   - userInfo: what the changes need to be decoded.
  /// - Throws: ``FileError`` if the file can't be read, is damaged, or is from a newer version; it
  ///   stays as it is.
  public mutating func read(
    recovering isRecovering: Bool = false, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(FileError) -> Reading {
    hasOthersLines = false
    (uncertainLine, olderHeader) = (nil, nil)
    guard let data = try file.read() else {
      (size, compactSize) = (0, 0)
      return Reading(exists: false)
    }
    var reading = Reading()
    var damage: FileError?
    olderHeader = headerOfOlder(data)
    let header = olderHeader ?? header
    if !data.starts(with: header) {
      let error = unknownHeader(data)
      guard isRecovering, error.step == .understand else { throw error }
      damage = error
    }
    let start = data.startIndex + (damage == nil ? header.count : 0)
    let lines = Self.lines(of: data, from: start)
    for group in groups(lines, userInfo) {
      do throws(FileError) {
        reading.changes += try group.get()
      } catch {
        guard isRecovering, error.step == .understand else { throw error }
        damage = damage ?? error
      }
    }
    size = (lines.last.map { data.index(after: $0.endIndex) } ?? start) - data.startIndex
    let empty = Self.emptyGroup
    compactSize = lines.last { $0 == empty }.map { $0.endIndex + 1 - data.startIndex } ?? 0
    if let damage, let copy = try file.setAside() {
      reading.recovery = FileRecovery(damage, copy: copy)
      size = data.count
    } else {
      let line = lines.last.map { data[$0.startIndex...$0.endIndex] } ?? Data()
      do throws(FileError) { try cut(rewriting: line, of: data.count) } catch {
        // A file that may not be written can be read if nothing has to be removed from it.
        guard size == data.count, isReadOnly else { throw error }
        uncertainLine = line
      }
    }
    return reading
  }

  /// The line of a group without changes, without its end.
  private static var emptyGroup: Data {
    Data((AtomicFile.checksum(Data("[]".utf8)) + " []").utf8)
  }

  /// The complete lines, without their ends.
  private static func lines(of data: Data, from start: Data.Index) -> [Data] {
    var lines: [Data] = []
    var start = start
    while let end = endOfLine(in: data, from: start) {
      if end == data.index(before: data.endIndex), data[start..<end].contains(0) { break }
      lines.append(data[start..<end])
      start = data.index(after: end)
    }
    return lines
  }

  /// The index of the next line feed.
  private static func endOfLine(in data: Data, from start: Data.Index) -> Data.Index? {
    data.withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes[(start - data.startIndex)...])
      guard let first = rest.baseAddress, let end = memchr(first, 0x0A, rest.count) else {
        return nil
      }
      return start + (UnsafeRawPointer(end) - first)
    }
  }

  /// Adds a group of changes, which is durable when this returns.
  ///
  /// - Throws: ``FileError``; the file does not contain the group then.
  public mutating func append(_ changes: [Change]) throws(FileError) {
    let line = try line(changes)
    if let uncertainLine { try cut(rewriting: uncertainLine, of: size) }
    if hasRest { try cut() }
    if size == 0, try hasOthersFile() == false { try rewrite([], replacingOthers: isRemoved) }
    if let olderHeader { try renew(olderHeader) }
    if isNameUncertain { try synchronizeName() }
    // Another journal may have replaced the file.
    let (open, found) = try file.doing(.write) { () throws(DiskError) in
      let open = try file.disk.open(file.path, .append)
      return (open, try open.size())
    }
    if found != size { hasOthersLines = true }
    size = found
    do throws(FileError) {
      try file.doing(.write) { () throws(DiskError) in
        try open.append(all: line)
        try open.synchronize()
      }
      size += line.count
    } catch {
      // The next line must not follow a part of this one.
      hasRest = true
      try? cut()
      throw error
    }
  }

  /// Replaces the content of the file with these groups.
  ///
  /// With `replacesOthers`, a file that another journal has written is replaced, too, such as to
  /// erase it.
  /// - Throws: ``FileError``; the file has its old content then, or the new one, which is made
  ///   durable before the next group is added. A file that another journal has written stays.
  public mutating func rewrite(
    _ groups: [[Change]], replacingOthers replacesOthers: Bool = false
  ) throws(FileError) {
    if !replacesOthers { try checkForOthers() }
    var data = header
    for group in groups { data.append(contentsOf: try line(group)) }
    data += Self.emptyGroup + Data("\n".utf8)
    failedSize = size
    try file.replace(data)
    failedSize = 0
    isNameUncertain = true
    hasRest = false
    uncertainLine = nil
    hasOthersLines = false
    isRemoved = false
    olderHeader = nil
    size = data.count
    compactSize = data.count
    try synchronizeName()
  }

  /// Replaces the header of an older version, so that an older app does not read what follows.
  private mutating func renew(_ older: Data) throws(FileError) {
    guard let data = try file.read() else { return }
    // Another journal may have done it.
    if data.starts(with: older) {
      try file.replace(header + data.dropFirst(older.count))
      isNameUncertain = true
    }
    olderHeader = nil
    size += header.count - older.count
    if compactSize > 0 { compactSize += header.count - older.count }
  }

  /// Whether another journal has made a file of this format since this one found none.
  private mutating func hasOthersFile() throws(FileError) -> Bool {
    guard !isRemoved, let data = try file.read(), data.starts(with: header) else { return false }
    hasOthersLines = true
    return true
  }

  /// Fails if another journal has written the file.
  private mutating func checkForOthers() throws(FileError) {
    let found = try file.doing(.write) { () throws(DiskError) in
      guard try file.disk.exists(file.path) else { return 0 }
      return try file.disk.open(file.path, .read).size()
    }
    if found != size, !hasRest { hasOthersLines = true }
    guard hasOthersLines else { return }
    throw FileError(
      .write, url,
      "another store has written it since this one read it. Nothing was changed; open one store at "
        + "a time, and open this one again.")
  }

  private mutating func synchronizeName() throws(FileError) {
    try file.synchronizeName()
    isNameUncertain = false
  }

  /// Removes the file and the copies of damaged ones.
  ///
  /// - Throws: ``FileError`` if it can't be removed.
  public mutating func remove() throws(FileError) {
    hasRest = false
    (uncertainLine, olderHeader) = (nil, nil)
    hasOthersLines = false
    size = 0
    compactSize = 0
    isRemoved = true
    try file.remove()
    isRemoved = false
  }

  /// Removes the copies of damaged files.
  ///
  /// - Throws: ``FileError`` if one can't be removed.
  public func removeCopies() throws(FileError) {
    try file.removeCopies()
  }

  /// Whether this process may not write the file.
  private var isReadOnly: Bool {
    do throws(DiskError) { _ = try file.disk.open(file.path, .update) } catch {
      return error.isOfPermission
    }
    return false
  }

  /// Removes what is behind the last line.
  ///
  /// - Parameters:
  ///   - line: the last line, which is written again: the process that wrote it may not have
  ///     waited for the disk, and a system may show bytes that it failed to write.
  ///   - found: the size of the file as it was read; a file of another size has lines of another
  ///     journal by now, and stays.
  private mutating func cut(
    rewriting line: Data = Data(), of found: Int? = nil
  ) throws(FileError) {
    try file.doing(.write) { () throws(DiskError) in
      let file = try file.disk.open(self.file.path, .update)
      if let found, try file.size() != found {
        hasOthersLines = true
        return
      }
      try file.truncate(to: size)
      try file.write(all: [UInt8](line)[...], at: size - line.count)
      try file.synchronize()
    }
    hasRest = false
    uncertainLine = nil
  }

  /// The groups of lines, several parts of which are decoded at a time: most of the time to read a
  /// file is spent on JSON.
  private func groups(
    _ lines: [Data], _ userInfo: [CodingUserInfoKey: any Sendable]
  ) -> [Result<[Change], FileError>] {
    let bodies = lines.map { line in
      Result { () throws(FileError) in Self.parts(of: try body(line)) }
    }
    let parts = bodies.flatMap { (try? $0.get()) ?? [] }
    let decoded = Mutex([Result<[Change], FileError>?](repeating: nil, count: parts.count))
    DispatchQueue.concurrentPerform(iterations: parts.count) { index in
      let decoder = JSONDecoder.canonical()
      decoder.userInfo = userInfo
      let changes = Result { () throws(FileError) in try self.changes(parts[index], decoder) }
      decoded.withLock { $0[index] = changes }
    }
    var rest = decoded.withLock { $0 }.compactMap(\.self)[...]
    return bodies.map { body in
      Result { () throws(FileError) in
        let count = try body.get().count
        defer { rest = rest.dropFirst(count) }
        var changes: [Change] = []
        for part in rest.prefix(count) { changes += try part.get() }
        return changes
      }
    }
  }

  /// The bytes of a part of a group, at least.
  private static var partSize: Int { 64 << 10 }

  /// A JSON array as several ones of the same elements.
  private static func parts(of array: Data) -> [Data] {
    guard array.count > partSize else { return [array] }
    var commas: [Data.Index] = []
    array.withUnsafeBytes { bytes in
      var (depth, last) = (0, 0)
      var (isText, isEscaped) = (false, false)
      for (offset, byte) in bytes.enumerated() {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\"") {
          isText.toggle()
        } else if isText {
          isEscaped = byte == UInt8(ascii: "\\")
        } else if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
          depth += 1
        } else if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
          depth -= 1
        } else if byte == UInt8(ascii: ","), depth == 1, offset - last >= partSize {
          commas.append(array.startIndex + offset)
          last = offset
        }
      }
    }
    guard !commas.isEmpty else { return [array] }
    let starts = [array.startIndex] + commas
    let ends = commas + [array.index(before: array.endIndex)]
    return zip(starts, ends).map { Data("[".utf8) + array[($0 + 1)..<$1] + Data("]".utf8) }
  }

  /// The JSON of a line that matches its checksum.
  private func body(_ line: Data) throws(FileError) -> Data {
    let body = line.dropFirst(17)
    guard !body.isEmpty, Data(AtomicFile.checksum(body).utf8) + [0x20] == line.prefix(17) else {
      throw FileError(
        .understand, url,
        "a line does not match its checksum. Nothing was changed; open with recovery to keep a "
          + "copy and fetch everything again.")
    }
    return body
  }

  private func changes(_ part: Data, _ decoder: JSONDecoder) throws(FileError) -> [Change] {
    do {
      return try decoder.decode([Change].self, from: part)
    } catch let error as UnusableContent {
      throw FileError(.use, url, error.reason)
    } catch {
      throw FileError(
        .understand, url,
        "a line has content that this version can't decode. Nothing was changed; open with "
          + "recovery to keep a copy and fetch everything again.")
    }
  }

  private func line(_ changes: [Change]) throws(FileError) -> [UInt8] {
    do {
      let body = try JSONEncoder.canonical().encode(changes)
      return Array(AtomicFile.checksum(body).utf8) + [UInt8(ascii: " ")] + body + [
        UInt8(ascii: "\n")
      ]
    } catch {
      throw FileError(.write, url, "a change can't be encoded as JSON: \(error)")
    }
  }

  /// The first line of a file of this format and an older version.
  private func headerOfOlder(_ data: Data) -> Data? {
    guard let found = foundVersion(data), found >= oldestVersion, found < version else {
      return nil
    }
    let header = Data("\(format) \(found)\n".utf8)
    return data.starts(with: header) ? header : nil
  }

  /// The version in the first line of a file of this format.
  private func foundVersion(_ data: Data) -> Int? {
    let words = String(decoding: data.prefix(format.utf8.count + 24), as: UTF8.self)
      .split(whereSeparator: \.isWhitespace)
    return words.count >= 2 && words[0] == format ? Int(words[1]) : nil
  }

  private func unknownHeader(_ data: Data) -> FileError {
    if let found = foundVersion(data), found > version {
      return FileError(
        .use, url, "a newer version of the app wrote it (format \(found)). Nothing was changed.")
    }
    return FileError(
      .understand, url,
      "it is not a file of the format \(format), or it is damaged. Nothing was changed; open with "
        + "recovery to keep a copy and fetch everything again.")
  }
}

/// The error of a decoder for a change that is intact, but that this version of the app can't use.
package struct UnusableContent: Error {
  let reason: String

  /// Gives the reason, without the content.
  package init(_ reason: String) { self.reason = reason }
}

extension JSONEncoder {
  /// An encoder whose result is the same for equal values, and that takes any number.
  package static func canonical() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return encoder
  }
}

extension JSONDecoder {
  /// A decoder of what the encoder of values makes.
  package static func canonical() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }
}
