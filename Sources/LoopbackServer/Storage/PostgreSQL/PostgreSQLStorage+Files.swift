#if PostgreSQL
  public import CloudMachine
  import CloudProtocol
  import PostgreSQL
  public import Records

  /// The content of files, in rows of 1 MiB.
  ///
  /// What may have lost its last use is noted in `file_candidates`. Before the commit these files
  /// are locked, and then those without a use are removed: a transaction that adds a use locks the
  /// file first, or the upload that uses it.
  extension PostgreSQLStorage {
    private static let chunkBytes = AssetContent.partBytes

    /// The bytes of a range of a file; a writing transaction locks the file against removal.
    public func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]? {
      let first = range.lowerBound / Self.chunkBytes
      let last = max(first, (max(range.upperBound, 1) - 1) / Self.chunkBytes)
      let lock = locks ? " FOR KEY SHARE" : ""
      let found = try read([
        PostgreSQLStatement(
          "SELECT checksum FROM cloudsync.files WHERE checksum = $1" + lock, [.text(checksum)]),
        PostgreSQLStatement(
          """
          SELECT number, body FROM cloudsync.file_chunks
          WHERE checksum = $1 AND number BETWEEN $2 AND $3 ORDER BY number
          """, [.text(checksum), .integer(Int64(first)), .integer(Int64(last))]),
      ])
      guard found[0].count > 0 else { return nil }
      var content: [UInt8] = []
      for (number, body) in try found[1].map({ (try $0.integer(0), try $0.bytes(1)) }) {
        let chunk = try ChunkBody.open(body, number, of: checksum)
        let start = Int(number) * Self.chunkBytes
        let part = range.clamped(to: start..<start + chunk.count)
        content += chunk[part.lowerBound - start..<part.upperBound - start]
      }
      return content
    }

    /// The upload with a receipt; a writing transaction locks it against removal, with its file.
    public func upload(_ receipt: String) throws -> UploadRow? {
      try cached(\.uploads, receipt) { try read([uploads([receipt])])[0].first(Self.upload) }
    }

    func uploads(_ receipts: [String]) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT found.receipt, found.body
        FROM unnest($1::text[]) AS wanted (receipt) CROSS JOIN LATERAL (
          SELECT receipt, body FROM cloudsync.uploads
          WHERE receipt = wanted.receipt COLLATE "C" OFFSET 0\(locks ? " FOR KEY SHARE" : "")
        ) AS found
        """, [.texts(receipts)])
    }

    static func upload(_ row: PostgreSQLRows.Row) throws -> UploadRow {
      try UploadBody.open(try row.bytes(1), receipt: try row.text(0))
    }

    /// The receipts of old uploads, oldest first.
    public func uploads(through time: Timestamp, limit: Int) throws -> [String] {
      try read(
        """
        SELECT receipt FROM cloudsync.uploads WHERE time <= $1 ORDER BY time, receipt LIMIT $2
        """, [.integer(sortable(time)), .integer(Int64(max(0, limit)))]
      ).map { try $0.text(0) }
    }

    /// Sends the content of new files among `changes`, a part at a time.
    func sendFiles(of changes: [StorageChange]) throws {
      for case .putUpload(let row, let content) in changes {
        let inserted = try runNow([
          PostgreSQLStatement(
            """
            INSERT INTO cloudsync.files (checksum) VALUES ($1)
            ON CONFLICT (checksum) DO UPDATE SET checksum = excluded.checksum
            """, [.text(row.checksum)]),
          PostgreSQLStatement(
            "SELECT number FROM cloudsync.file_chunks WHERE checksum = $1 AND number = 0",
            [.text(row.checksum)]),
        ])
        guard inserted[1].count == 0 else { continue }
        var number: Int64 = 0
        try content.forEachPart { part in
          let body = ChunkBody.close(part, number, of: row.checksum)
          _ = try runNow([
            PostgreSQLStatement(
              "INSERT INTO cloudsync.file_chunks (checksum, number, body) VALUES ($1, $2, $3)",
              [.text(row.checksum), .integer(number), .bytes(body)])
          ])
          number += 1
        }
      }
    }

    /// Stores the receipt of an upload, whose content was sent before.
    static func put(_ row: UploadRow) -> [PostgreSQLStatement] {
      [
        PostgreSQLStatement(
          """
          INSERT INTO cloudsync.file_candidates
          SELECT checksum FROM cloudsync.uploads WHERE receipt = $1 AND checksum <> $2
          ON CONFLICT DO NOTHING
          """, [.text(row.receipt), .text(row.checksum)]),
        PostgreSQLStatement(
          """
          INSERT INTO cloudsync.uploads (receipt, checksum, time, body) VALUES ($1, $2, $3, $4)
          ON CONFLICT (receipt) DO UPDATE
          SET checksum = excluded.checksum, time = excluded.time, body = excluded.body
          """,
          [
            .text(row.receipt), .text(row.checksum), .integer(sortable(row.time)),
            .bytes(UploadBody.close(row)),
          ]),
      ]
    }

    static func removeUpload(_ receipt: String) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        WITH gone AS (
          DELETE FROM cloudsync.uploads WHERE receipt = $1 RETURNING checksum)
        INSERT INTO cloudsync.file_candidates SELECT checksum FROM gone ON CONFLICT DO NOTHING
        """, [.text(receipt)])
    }

    /// Removes the files among the candidates that nothing uses, each statement with a view of its
    /// own.
    ///
    /// The arrays keep the planner from joins that read all files.
    static let removalOfUnusedFiles = [
      """
      SELECT checksum FROM cloudsync.files
      WHERE checksum = ANY(ARRAY(SELECT checksum FROM cloudsync.file_candidates))
      ORDER BY checksum FOR UPDATE
      """,
      """
      WITH unused AS (
        DELETE FROM cloudsync.files WHERE checksum = ANY(ARRAY(
          SELECT checksum FROM cloudsync.file_candidates AS old
          WHERE NOT EXISTS (
              SELECT 1 FROM cloudsync.file_uses WHERE checksum = old.checksum OFFSET 0)
            AND NOT EXISTS (
              SELECT 1 FROM cloudsync.uploads WHERE checksum = old.checksum OFFSET 0)))
        RETURNING checksum)
      DELETE FROM cloudsync.file_chunks WHERE checksum = ANY(ARRAY(SELECT checksum FROM unused))
      """,
      "DELETE FROM cloudsync.file_candidates",
    ].map { PostgreSQLStatement($0) }
  }
#endif
