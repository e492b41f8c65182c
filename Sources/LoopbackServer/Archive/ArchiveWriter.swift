import CloudMachine
import CloudProtocol
import Records
import WebServices

/// Writes the contents of a storage line by line, in a deterministic order.
struct ArchiveWriter {
  /// The format name in the first line.
  static let format = "swift-cloud-sync server"
  /// The format version: 2 adds the digests of requests to receipts.
  static let version = 2

  private let storage: any CloudStorage
  private let includesSecret: Bool
  private let write: ([UInt8]) throws -> Void
  private var lineCount = 0
  private var hash = SHA256()

  /// Writes from `storage` to `write`, which gets each line with its end.
  init(
    _ storage: any CloudStorage, includesSecret: Bool = true,
    to write: @escaping ([UInt8]) throws -> Void
  ) {
    self.storage = storage
    self.includesSecret = includesSecret
    self.write = write
  }

  /// Writes the whole archive.
  mutating func run() throws {
    let secret = try storage.secret()
    try put(
      .members([
        "format": .string(ArchiveWriter.format), "version": .integer(ArchiveWriter.version),
        "identity": .string(JSON.hexadecimal(try storage.identity())),
        "secret": includesSecret
          ? .string(JSON.hexadecimal(secret.first) + JSON.hexadecimal(secret.second)) : nil,
      ]))
    try put(try storage.accounts().map { .account($0) })
    try put(try storage.recordTypes().map { .recordType($0) })
    try put(try storage.schemas().map { .schema($0) })
    try put(try storage.databases().map { .database($0) })
    let databases = try storage.databaseNames().sorted()
    for database in databases {
      try put(try storage.zones(in: database).map { .zone($0, database) })
    }
    for database in databases { try putRecords(of: database) }
    for database in databases {
      try put(try storage.subscriptions(in: database).map { .subscription($0, database) })
    }
    try putFiles()
    try putReceipts()
    try put(
      .members([
        "kind": .string("end"), "lines": .integer(lineCount),
        "sha256": .string(hash.hexadecimalDigest),
      ]))
  }

  private mutating func putRecords(of database: DatabaseID) throws {
    let zones = try storage.zoneNames(in: database).sorted { first, second in
      first.owner.utf8.elementsEqual(second.owner.utf8)
        ? first.name.utf8.lexicographicallyPrecedes(second.name.utf8)
        : first.owner.utf8.lexicographicallyPrecedes(second.owner.utf8)
    }
    for zone in zones {
      try storage.forEachRecord(of: zone, in: database) { row in
        try put(ArchiveRow.record(row, database).json)
      }
    }
  }

  private mutating func putFiles() throws {
    let checksums = try storage.assetChecksums().sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    for checksum in checksums {
      guard let content = try storage.assetContent(checksum) else { continue }
      try put(ArchiveRow.file(checksum: checksum, content: content).json)
    }
    let end = Timestamp(secondsSinceReferenceDate: .infinity)
    try put(
      try storage.uploads(through: end, limit: .max).compactMap { receipt in
        try storage.upload(receipt).map { .upload($0) }
      })
  }

  private mutating func putReceipts() throws {
    var places: [[String]: Int] = [:]
    var keys: [(key: ReceiptKey, position: ArchivePosition)] = []
    for key in try storage.receiptKeys() {
      let names = [key.user.rawValue, key.device]
      let place = (places[names] ?? 0) + 1
      places[names] = place
      keys.append((key, ArchivePosition(kind: .receipt, names: names, place: place)))
    }
    keys.sort { $0.position < $1.position }
    for (key, position) in keys {
      guard let receipt = try storage.receipt(key) else { continue }
      try put(ArchiveRow.receipt(receipt, place: position.place).json)
    }
  }

  private mutating func put(_ rows: [ArchiveRow]) throws {
    let sorted = rows.map { (row: $0, position: $0.position) }
      .sorted { $0.position < $1.position }
    for (row, _) in sorted { try put(row.json) }
  }

  private mutating func put(_ json: JSON) throws {
    var line = json.bytes
    line.append(UInt8(ascii: "\n"))
    try write(line)
    hash.update(line)
    lineCount += 1
  }
}
