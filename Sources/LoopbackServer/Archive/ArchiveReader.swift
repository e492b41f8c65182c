import CloudMachine
import CloudProtocol
import Records
import WebServices

/// Reads an archive line by line and imports it into an empty storage.
///
/// Call `take(_:)` for each line and then `finish()`, all in one transaction, which fails unless
/// the last line is present and matches the lines before it. Records of one zone are committed
/// together in the order of their changes, which storages insert efficiently.
struct ArchiveReader {
  /// The receipt prefix of temporary uploads, which keep the content of files until the records
  /// that refer to them are imported.
  private static let keeper = "archive "

  private let storage: any CloudStorage
  private let keepsIdentity: Bool
  private var lineCount = 0
  private var hash = SHA256()
  private var isAtEnd = false
  private var last: ArchivePosition?
  private var users: Set<UserID> = []
  private var files: Set<String> = []
  private var records: [RecordRow] = []
  private var home: (zone: ZoneID, database: DatabaseID)?
  /// The number of the last change of each database.
  private var sequences: [DatabaseID: UInt64] = [:]
  /// The numbers of the changes of the zone's records.
  private var numbers: Set<UInt64> = []

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - storage: The storage, which is emptied by the first line.
  ///   - keepsIdentity: Whether the storage takes over the archive's identity, so that change
  ///     tokens stay valid; if not, it gets a new one.
  init(_ storage: any CloudStorage, keepsIdentity: Bool = true) {
    self.storage = storage
    self.keepsIdentity = keepsIdentity
  }

  /// Reads the next line, without its line feed.
  mutating func take(_ line: ArraySlice<UInt8>) throws {
    do {
      guard !isAtEnd else { throw ArchiveError("it follows the last line") }
      let json = try ArchiveReader.json(of: line)
      if lineCount == 0 {
        try begin(json)
      } else if case .object(let members) = json, members.elements.first?.name == "kind",
        case .string("end")? = members.elements.first?.value
      {
        try end(json)
      } else {
        try put(try ArchiveRow(json))
      }
      // Every value has exactly one spelling, so blanks and other escapes are corruption.
      guard json.bytes.elementsEqual(line) else {
        throw ArchiveError("its JSON does not have the archive's format")
      }
    } catch let fault as ArchiveError {
      throw ArchiveReader.error(
        lineCount + 1,
        lineCount == 0 ? "it is not the first line of a server's archive" : fault.reason)
    }
    hash.update(line)
    hash.update(CollectionOfOne(UInt8(ascii: "\n")))
    lineCount += 1
  }

  private static func json(of line: ArraySlice<UInt8>) throws(ArchiveError) -> JSON {
    do { return try JSON(parsing: Array(line)) } catch {
      throw ArchiveError("it is not JSON: \(error)")
    }
  }

  /// Checks that the last line came.
  func finish() throws {
    guard isAtEnd else {
      throw CloudError(
        .invalidArguments,
        "the archive ends after line \(lineCount) without its last line; it was cut short. "
          + "Nothing was imported; take a whole copy")
    }
  }

  private static func error(_ line: Int, _ reason: String) -> CloudError {
    CloudError(
      .invalidArguments,
      "line \(line) of the archive can't be used: \(reason). Nothing was imported; take an "
        + "undamaged copy")
  }
}

extension ArchiveReader {
  private mutating func begin(_ json: JSON) throws {
    let version = try ArchiveObject.read(json, "the line") { line in
      let format = try line.text("format")
      let version: UInt64 = try line.need(line.json("version"), "version").integer("version")
      _ = line.rest()
      guard format == ArchiveWriter.format else {
        throw ArchiveError("'format' is not that of a server's archive")
      }
      return version
    }
    guard version <= UInt64(ArchiveWriter.version) else {
      throw CloudError(
        .incompatibleVersion,
        "line 1 of the archive says that a newer version wrote it (its format is \(version), this "
          + "one knows \(ArchiveWriter.version)); update, and import it then")
    }
    do {
      guard version >= 1 else {
        throw ArchiveError("'version' is not a known version")
      }
      let (identity, secret) = try ArchiveObject.read(json, "the line") { line in
        _ = (try line.text("format"), line.json("version"))
        let archived = try ArchiveReader.number(try line.text("identity")[...])
        var identity = archived
        while !keepsIdentity, identity == archived { identity = .random(in: 0...(.max)) }
        // Without one the server keeps its own.
        guard let secret = try line.optionalText("secret") else {
          return (identity, try storage.secret())
        }
        return (
          identity,
          StorageSecret(
            first: try ArchiveReader.number(secret.prefix(16)),
            second: try ArchiveReader.number(secret.dropFirst(16)))
        )
      }
      try storage.commit([.removeEverything(identity: identity, secret: secret)])
    } catch let fault as ArchiveError {
      throw ArchiveReader.error(1, fault.reason)
    }
  }

  /// A number of sixteen digits.
  private static func number(_ digits: Substring) throws -> UInt64 {
    guard digits.utf8.count == 16, let number = UInt64(digits, radix: 16),
      JSON.hexadecimal(number) == digits
    else { throw ArchiveError("the identity or secret is not of the right form") }
    return number
  }

  private mutating func put(_ row: ArchiveRow) throws {
    let position = row.position
    guard last.map({ $0 < position }) ?? true else {
      throw ArchiveError("it is duplicated or out of order")
    }
    last = position
    if case .record(let record, let database) = row {
      if home?.zone != record.id.zone || home?.database != database { try putRecords() }
      home = (record.id.zone, database)
      // A feed finds a record by its number; the register of shares has neither.
      let isRegister = database.scope == .shared && database.owner == nil
      let isNumbered =
        record.changedAt > 0 && record.changedAt <= sequences[database] ?? .max
      guard isRegister || isNumbered && numbers.insert(record.changedAt).inserted else {
        throw ArchiveError(
          "'changedAt' is not a number of the database, or another record of the zone has it")
      }
      records.append(record)
      return
    }
    try putRecords()
    switch row {
    case .account(let account):
      guard users.insert(account.user).inserted else {
        throw ArchiveError("two accounts are the same user")
      }
      try storage.commit([.putAccount(account)])
    case .recordType(let type): try storage.commit([.putRecordType(type)])
    case .schema(let schema): try storage.commit([.putSchema(schema)])
    case .database(let database):
      sequences[database.id] = database.sequence
      try storage.commit([.putDatabase(database)])
    case .zone(let zone, let database): try storage.commit([.putZone(zone, in: database)])
    case .record: break
    case .subscription(let subscription, let database):
      try storage.commit([.putSubscription(subscription, in: database)])
    case .file(let checksum, let content):
      files.insert(checksum)
      try storage.commit([
        .putUpload(ArchiveReader.keeper(of: checksum), content: AssetContent(content))
      ])
    case .upload(let upload):
      guard files.contains(upload.checksum) else {
        throw ArchiveError("it refers to a file that is not in the archive")
      }
      guard !upload.receipt.hasPrefix(ArchiveReader.keeper) else {
        throw ArchiveError("'receipt' is not a valid receipt")
      }
      // The content is already stored under its checksum.
      try storage.commit([.putUpload(upload, content: [])])
    case .receipt(let receipt, _): try storage.commit([.putReceipt(receipt, keeping: .max)])
    }
  }

  private mutating func putRecords() throws {
    guard let database = home?.database, !records.isEmpty else { return }
    records.sort { ($0.changedAt, $0.id.name) < ($1.changedAt, $1.id.name) }
    try storage.commit(records.map { .putRecord($0, in: database) })
    records = []
    numbers = []
  }

  private static func keeper(of checksum: String) -> UploadRow {
    UploadRow(
      receipt: keeper + checksum, user: UserID(""),
      recordType: RecordTypeID(container: "", environment: .development, name: ""), key: "",
      checksum: checksum, size: 0, time: Timestamp(secondsSinceReferenceDate: 0))
  }

  private mutating func end(_ json: JSON) throws {
    let (count, digest) = try ArchiveObject.read(json, "the line") { line in
      _ = try line.text("kind")
      return (try line.count("lines"), try line.text("sha256"))
    }
    guard count == lineCount else {
      throw ArchiveError("it counts \(count) lines, but there are \(lineCount)")
    }
    guard digest == hash.hexadecimalDigest else {
      throw ArchiveError("its checksum does not agree with the lines before it")
    }
    try putRecords()
    try storage.commit(files.sorted().map { .removeUpload(ArchiveReader.keeper + $0) })
    isAtEnd = true
  }
}
