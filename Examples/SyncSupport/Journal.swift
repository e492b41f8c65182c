public import Foundation

/// A file of changes, each line one of them: what belongs together is on the disk together or not
/// at all, and a change costs its own size, however much there is.
///
/// A line is the checksum of a JSON array, a space, and that array. A line without its end is a
/// write that a crash cut off: nobody was told that it succeeded, so it is dropped. Any other line
/// that does not fit its checksum is damage, and is reported. The file is written anew when most of
/// it is overtaken. A value that holds the file open: its owner guards it, and closes it.
public struct Journal<Change: Codable & Sendable>: Sendable {
  private let file: AtomicFile
  private let format: String
  private let version: Int
  private var header: Data { Data("\(format) \(version)\n".utf8) }
  private var descriptor: CInt = -1
  /// How many bytes the file has, and how many it had when it was last written anew.
  private var size = 0
  private var compactSize = 0

  /// Names the journal at `url`; nothing is read or created yet.
  ///
  /// - Parameter format: names what the changes are; the file begins with it and `version`.
  public init(_ url: URL, format: String, version: Int = 1) {
    file = AtomicFile(url)
    self.format = format
    self.version = version
  }

  /// The file.
  public var url: URL { file.url }

  /// Whether most of the file is overtaken, so that it is worth writing anew.
  ///
  /// Never below 256 KiB, which is read at once whatever is in it.
  public var isMostlyOvertaken: Bool { size > 256 << 10 && size > 3 * compactSize }

  /// All changes in the file, oldest first.
  ///
  /// - Throws: `FileError` when the file can't be read, is damaged, or is of a newer version; it
  ///   is left as it is.
  public mutating func read() throws(FileError) -> [Change] {
    guard let data = try file.read() else { return [] }
    guard data.starts(with: header) else { throw unknownHeader(data) }
    var changes: [Change] = []
    var start = data.startIndex + header.count
    let decoder = JSONDecoder()
    while let end = data[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = data[start..<end]
      guard line.count > 17, line[line.startIndex + 16] == UInt8(ascii: " "),
        let body = Optional(line[(line.startIndex + 17)...]),
        Data(AtomicFile.checksum(body).utf8) == line.prefix(16),
        let group = try? decoder.decode([Change].self, from: body)
      else {
        throw FileError(
          .understand, url,
          "a line does not match its checksum: it is damaged. Nothing was changed; open with "
            + "recovery to set it aside and fetch everything anew.")
      }
      changes += group
      start = data.index(after: end)
    }
    size = data.distance(from: data.startIndex, to: start)
    compactSize = size / 3
    if start != data.endIndex { try cut(to: size) }
    return changes
  }

  /// Adds changes that belong together; durable when it returns.
  ///
  /// - Throws: `FileError`; none of them is in the file then.
  public mutating func append(_ changes: [Change]) throws(FileError) {
    if descriptor < 0 { try openFile() }
    let line = try line(changes)
    do throws(FileError) {
      try file.writeAll(line, to: descriptor)
      guard fsync(descriptor) == 0 else { throw systemError() }
      size += line.count
    } catch {
      // Half a line must not stand before the next one.
      try? cut(to: size)
      throw error
    }
  }

  /// Writes the file anew with these groups of changes only.
  ///
  /// - Throws: `FileError`; the old file is untouched then.
  public mutating func rewrite(_ groups: [[Change]]) throws(FileError) {
    var data = header
    for group in groups { data.append(try line(group)) }
    closeFile()
    try file.write(data)
    size = data.count
    compactSize = data.count
  }

  /// Removes the file.
  ///
  /// - Throws: `FileError` when it can't be removed.
  public mutating func remove() throws(FileError) {
    closeFile()
    size = 0
    compactSize = 0
    try file.remove()
  }

  /// Why a file does not begin as this version's do.
  private func unknownHeader(_ data: Data) -> FileError {
    let line = String(decoding: data.prefix(64).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let words = line.split(separator: " ")
    if words.count == 2, words.first.map(String.init) == format, let found = Int(words[1]),
      found > version
    {
      return FileError(
        .use, url,
        "a newer version of this program wrote it (format \(found)). Nothing was changed.")
    }
    return FileError(
      .understand, url,
      "it is not a file of this program, or it is damaged. Nothing was changed; open with recovery "
        + "to set it aside and fetch everything anew.")
  }

  private mutating func openFile() throws(FileError) {
    if size == 0 { try rewrite([]) }
    descriptor = open(url.path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError() }
  }

  /// Closes the file; the next change opens it again.
  public mutating func closeFile() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  private func cut(to size: Int) throws(FileError) {
    guard truncate(url.path, off_t(size)) == 0 else { throw systemError() }
  }

  private func line(_ changes: [Change]) throws(FileError) -> Data {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let body = try encoder.encode(changes)
      let checksum = Data(AtomicFile.checksum(body).utf8)
      return checksum + [UInt8(ascii: " ")] + body + [UInt8(ascii: "\n")]
    } catch {
      throw FileError(.write, url, "a change can't be written as JSON")
    }
  }

  private func systemError() -> FileError {
    FileError(.write, url, String(cString: strerror(errno)))
  }
}
