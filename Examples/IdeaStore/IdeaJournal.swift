import Foundation
import SyncSupport

/// What the store remembers besides ideas.
struct IdeaSettings: Codable, Hashable, Sendable {
  /// The account the ideas belong to, by its user record's name; `nil` while nobody's.
  var owner: String?
  /// The latest date of change that the server gave a record this device has seen.
  var highWater: Date?
  /// When every name in the cloud was last compared.
  var lastSweep: Date?
  /// When a sync last succeeded.
  var lastSync: Date?
}

/// One write: rows, settings and lines of the log that become true together.
struct IdeaTransaction: Codable, Sendable {
  /// Rows that are new or changed.
  var rows: [IdeaRow] = []
  /// The names of rows that are gone.
  var removed: [String] = []
  /// The settings, when they changed.
  var settings: IdeaSettings?
  /// New lines of the log.
  var log: [IdeaLogEntry] = []

  var isEmpty: Bool { rows.isEmpty && removed.isEmpty && settings == nil && log.isEmpty }
}

/// The store's one file: a journal of transactions, so that a change costs what it changes and
/// not what there is.
///
/// The first line names the format. Each further line is a checksum and a transaction as JSON. A
/// last line without an end is what a crash left of a write nobody was told of, and is dropped;
/// every other line that does not fit its checksum is damage. Small journals grow until most of
/// their rows are outdated, then they are written anew.
struct IdeaJournal: Sendable {
  private static let formatName = "idea-journal"
  private static let version = 1
  private static var header: Data { Data("\(formatName) \(version)\n".utf8) }

  private let file: AtomicFile
  /// How many rows the file holds, outdated ones too.
  private var rowCount = 0
  /// How long the file is; 0 while there is none.
  private var length = 0

  init(_ url: URL) { file = AtomicFile(url) }

  /// The file.
  var url: URL { file.url }

  /// Reads every transaction, oldest first.
  ///
  /// - Throws: `FileError` with step `understand` when the file is damaged, and with step `read`
  ///   when it can't be read or is of a newer version; it is left as it is.
  mutating func open() throws(FileError) -> [IdeaTransaction] {
    guard let data = try file.read(), !data.isEmpty else { return [] }
    var lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // What follows the last line's end: nothing, or a torn write.
    let torn = lines.removeLast()
    guard let first = lines.first else { throw damaged("it does not name its format") }
    try checkHeader(String(decoding: first, as: UTF8.self))
    var transactions: [IdeaTransaction] = []
    for line in lines.dropFirst() {
      guard let transaction = Self.transaction(in: line) else {
        throw damaged("line \(transactions.count + 2) does not fit its checksum")
      }
      rowCount += transaction.rows.count
      transactions.append(transaction)
    }
    length = data.count - torn.count
    return transactions
  }

  private func checkHeader(_ header: String) throws(FileError) {
    let words = header.split(separator: " ")
    guard words.count == 2, words[0] == Self.formatName, let version = Int(words[1]) else {
      throw damaged("it does not name its format")
    }
    guard version <= Self.version else {
      throw FileError(
        .read, url,
        "a newer version of this program wrote it (format \(version)). Nothing was changed; "
          + "update the program.")
    }
  }

  private func damaged(_ reason: String) -> FileError { FileError(.understand, url, reason) }

  /// Whether most of the file is outdated.
  func isWorthRewriting(liveRows: Int) -> Bool { rowCount > 2 * liveRows + 1_000 }

  /// Adds a transaction; it is on the disk when this returns.
  ///
  /// - Throws: `FileError`; the file is then as it was.
  mutating func append(_ transaction: IdeaTransaction) throws(FileError) {
    if length == 0 { return try rewrite(transaction) }
    let line = try line(transaction)
    do {
      let handle = try FileHandle(forWritingTo: url)
      defer { try? handle.close() }
      // Behind the last whole line, over whatever a crash left there.
      try handle.truncate(atOffset: UInt64(length))
      try handle.seek(toOffset: UInt64(length))
      try handle.write(contentsOf: line)
      try handle.synchronize()
    } catch {
      throw FileError(.write, url, error.localizedDescription)
    }
    length += line.count
    rowCount += transaction.rows.count
  }

  /// Replaces the file by one that holds only `transaction`.
  ///
  /// - Throws: `FileError`; the old file is untouched then.
  mutating func rewrite(_ transaction: IdeaTransaction) throws(FileError) {
    let data = Self.header + (try line(transaction))
    try file.write(data)
    length = data.count
    rowCount = transaction.rows.count
  }

  /// Removes the file, and everything that was ever set aside of it.
  mutating func remove() throws(FileError) {
    length = 0
    rowCount = 0
    try file.remove()
    for url in asideURLs { try AtomicFile(url).remove() }
  }

  /// Gives a damaged file another name, so that a new one can begin.
  ///
  /// - Returns: where it is now.
  mutating func setAside() throws(FileError) -> URL {
    let folder = url.deletingLastPathComponent()
    var number = 1
    var aside = url
    repeat {
      aside = folder.appendingPathComponent("\(url.lastPathComponent).damaged-\(number)")
      number += 1
    } while FileManager.default.fileExists(atPath: aside.path)
    do {
      try FileManager.default.moveItem(at: url, to: aside)
    } catch {
      throw FileError(.write, url, error.localizedDescription)
    }
    length = 0
    rowCount = 0
    return aside
  }

  private var asideURLs: [URL] {
    let folder = url.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix("\(url.lastPathComponent).damaged-") }
      .map { folder.appendingPathComponent($0) }
  }

  // MARK: Lines

  private func line(_ transaction: IdeaTransaction) throws(FileError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      let body = try encoder.encode(transaction)
      return Data((Self.checksum(body) + " ").utf8) + body + Data("\n".utf8)
    } catch {
      throw FileError(.write, url, "its content can't be written as JSON")
    }
  }

  private static func transaction(in line: Data) -> IdeaTransaction? {
    guard line.count > 17 else { return nil }
    let head = line.prefix(17)
    let body = line.dropFirst(17)
    guard head.elementsEqual(Data((checksum(body) + " ").utf8)) else { return nil }
    return try? JSONDecoder().decode(IdeaTransaction.self, from: Data(body))
  }

  /// FNV-1a over 64 bits, as 16 hexadecimal digits.
  private static func checksum(_ bytes: Data) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    bytes.withUnsafeBytes { buffer in
      for byte in buffer { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
