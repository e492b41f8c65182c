import CloudMachine
import CloudProtocol
import Records
import SQLite

/// The content of files; see `ServerFile.layoutOfQueriesAndFiles` for its removal.
extension SQLiteStorage {
  /// The number of bytes of a file per row.
  private static let chunkBytes = AssetContent.partBytes
  /// The size of the page cache for large files: 4 MiB, as negative KiB.
  static let fileCacheSize = -4 * 1024

  func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]? {
    var content: [UInt8] = []
    var number = range.lowerBound / SQLiteStorage.chunkBytes
    while range.lowerBound + content.count < range.upperBound || number == 0,
      let chunk = try chunk(Int64(number), of: checksum)
    {
      let start = number * SQLiteStorage.chunkBytes
      let part = range.clamped(to: start..<start + chunk.count)
      if part.count == chunk.count, content.isEmpty {
        content = chunk
      } else {
        content += chunk[part.lowerBound - start..<part.upperBound - start]
      }
      guard chunk.count == SQLiteStorage.chunkBytes else { return content }
      number += 1
    }
    return try content.isEmpty && chunk(0, of: checksum) == nil ? nil : content
  }

  private func chunk(_ number: Int64, of checksum: String) throws -> [UInt8]? {
    try translating {
      try connectionForFiles().first(
        "SELECT body FROM file_chunks WHERE checksum = ? AND number = ?",
        [.text(checksum), .integer(number)]
      ) { try ChunkBody.open(try $0.blob(0), number, of: checksum) }
    }
  }

  func upload(_ receipt: String) throws -> UploadRow? {
    try first("SELECT body FROM uploads WHERE receipt = ?", [.text(receipt)]) {
      try UploadBody.open(try $0.blob(0), receipt: receipt)
    }
  }

  func uploads(through time: Timestamp, limit: Int) throws -> [String] {
    try rows(
      "SELECT receipt FROM uploads WHERE time <= ? ORDER BY time, receipt LIMIT ?",
      [.integer(sortable(time)), .integer(Int64(max(0, limit)))]
    ) { try $0.text(0) }
  }

  func put(_ row: UploadRow, _ content: AssetContent) throws {
    // Insert the new row first: an earlier row of the same name may refer to the same content.
    let old = try upload(row.receipt)
    if let old, old.checksum != row.checksum {
      try connection.run("DELETE FROM uploads WHERE receipt = ?", [.text(row.receipt)])
    }
    try connection.run(
      "INSERT OR REPLACE INTO uploads (receipt, checksum, time, body) VALUES (?, ?, ?, ?)",
      [
        .text(row.receipt), .text(row.checksum), .integer(sortable(row.time)),
        .blob(UploadBody.close(row)),
      ])
    guard try chunk(0, of: row.checksum) == nil else { return }
    // Otherwise the pages of a large file would fill the whole cache.
    let isLarge = content.count > SQLiteStorage.chunkBytes
    if isLarge { try connection.execute("PRAGMA cache_size = \(SQLiteStorage.fileCacheSize)") }
    defer {
      if isLarge { try? connection.execute("PRAGMA cache_size = \(ServerFile.cacheSize)") }
    }
    var number: Int64 = 0
    try content.forEachPart { part in
      try connection.run(
        "INSERT INTO file_chunks (checksum, number, body) VALUES (?, ?, ?)",
        [
          .text(row.checksum), .integer(number),
          .blob(ChunkBody.close(part, number, of: row.checksum)),
        ])
      number += 1
    }
  }

  /// Updates the list of files that a record refers to.
  ///
  /// The new ones are noted before the old ones go, so that a file in both never seems unused.
  func putFileUses(of row: RecordRow, zone: Int64, isNew: Bool) throws {
    let after = row.record?.assetChecksums ?? []
    if isNew && after.isEmpty { return }
    let owner: [SQLValue] = [.integer(zone), .text(row.id.name)]
    let before =
      isNew
      ? []
      : try rows(
        "SELECT checksum FROM file_uses WHERE zone = ? AND holder = ?", owner
      ) { try $0.text(0) }
    for checksum in after where !before.contains(checksum) {
      try connection.run(
        "INSERT INTO file_uses (zone, holder, checksum) VALUES (?, ?, ?)",
        owner + [.text(checksum)])
    }
    for checksum in before where !after.contains(checksum) {
      mayHaveFreedSpace = true
      try connection.run(
        "DELETE FROM file_uses WHERE zone = ? AND holder = ? AND checksum = ?",
        owner + [.text(checksum)])
    }
  }
}

/// An integer that sorts in the same order as the time.
func sortable(_ time: Timestamp) -> Int64 {
  let bits = Int64(bitPattern: time.secondsSinceReferenceDate.bitPattern)
  return bits < 0 ? bits ^ .max : bits
}

/// The form of an upload in the file.
enum UploadBody {
  static func close(_ row: UploadRow) -> [UInt8] {
    ChecksummedBytes.encode(context: ChecksummedBytes.context(row.receipt)) { writer in
      writer.write(row.user.rawValue)
      writer.write(row.recordType.container)
      writer.write(row.recordType.environment.rawValue)
      writer.write(row.recordType.name)
      writer.write(row.key)
      writer.write(row.checksum)
      writer.write(count: row.size)
      writer.write(row.time.secondsSinceReferenceDate)
    }
  }

  static func open(_ bytes: [UInt8], receipt: String) throws(ByteFormatError) -> UploadRow {
    try ChecksummedBytes.decode(bytes, context: ChecksummedBytes.context(receipt)) {
      (reader) throws(ByteFormatError) in
      let user = UserID(try reader.string())
      let container = try reader.string()
      guard let environment = CloudEnvironment(rawValue: try reader.string()) else {
        throw reader.fault("the environment of an upload is unknown")
      }
      let type = RecordTypeID(
        container: container, environment: environment, name: try reader.string())
      let key = try reader.string()
      let checksum = try reader.string()
      guard let size = Int(exactly: try reader.variable()) else {
        throw reader.fault("a size is too large")
      }
      return UploadRow(
        receipt: receipt, user: user, recordType: type, key: key, checksum: checksum, size: size,
        time: Timestamp(secondsSinceReferenceDate: try reader.double()))
    }
  }
}
