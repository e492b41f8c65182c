import CloudMachine
public import CloudProtocol
public import Foundation

/// Export and import of a whole server as one text file.
///
/// An archive is JSON lines in UTF-8: a first line with the format and its version, one line for
/// each account, record type, database, zone, record, tombstone, subscription, file, upload and
/// remembered answer, and a last line with a count and a checksum. The order of the lines depends
/// only on the stored data, so two archives of one state are identical and archives of two states
/// can be compared line by line. Values are preserved exactly.
///
/// An archive carries the server's identity and the URLs of its shares, so change tokens, cursors
/// and these URLs stay valid on the server that imports it, unless it draws a new identity. Use
/// only one of the two servers from then on: their later tokens cannot be distinguished. The
/// archive discloses every record and every share's URL; keep it in a file with mode 0600.
///
/// Unless it is left out, the archive also has the server's secret. The API token, web tokens and
/// the URLs of future shares are derived from it: a reader of the archive can then sign in as
/// every account of the server that wrote it, and of each that imported it.
extension LoopbackServer {
  /// Writes the server's archive line by line, each with the line feed that ends it.
  ///
  /// All lines are from one snapshot, and the server answers requests during the export, except on
  /// a file that can't be changed; `write` must not call it. Records are read page by page, and
  /// written lines are not kept in memory.
  /// Throws what `write` throws, `networkFailure` after the server was closed, and what reading its
  /// file throws.
  ///
  /// - Parameters:
  ///   - includesSecret: Whether API tokens and web tokens of this server are valid on the server
  ///     that imports the archive.
  ///   - write: Receives each line, with its line feed.
  public func exportArchive(
    includesSecret: Bool = true, to write: (String) throws -> Void
  ) throws {
    try exportLines(includesSecret) { line in
      try write(String(decoding: line, as: UTF8.self))
    }
  }

  /// About how many lines an archive has; `nil` if counting them takes long.
  package func archiveLineCount() throws(CloudError) -> Int? {
    try executor.inspect { _, storage in try storage.rowCount() }
  }

  /// The server's archive as one piece of data.
  ///
  /// Throws `networkFailure` after the server was closed, and what reading its file throws.
  public func exportArchive() throws(CloudError) -> Data {
    var data = Data()
    do { try exportLines(true) { data.append(contentsOf: $0) } } catch {
      throw error as? CloudError ?? CloudError(.internalError, "the export failed: \(error)")
    }
    return data
  }

  /// Imports an archive into this server, which must be empty; imports everything or nothing.
  ///
  /// Devices get no pushes. The server takes over the archive's secret if it has one. A server in a
  /// file keeps the records of one zone in memory at a time.
  /// - Parameters:
  ///   - keepsIdentity: whether the server takes over the archive's identity. If not, it gets a new
  ///     one: every change token and cursor of the earlier server is rejected as expired, and
  ///     devices fetch everything again. That is needed if the archive does not have the latest
  ///     changes that devices may know.
  ///   - read: returns the next line with or without its line feed, `nil` after the last. It must
  ///     not call the server, which answers no request during the import.
  ///
  /// Throws `serverRejectedRequest` if the server is not empty, accounts without data aside;
  /// `invalidArguments`, naming the line, if the archive is damaged, truncated or not an archive;
  /// `incompatibleVersion` when a newer version wrote it; and what `read` throws. On error nothing
  /// is changed.
  public func importArchive(
    keepsIdentity: Bool = true, from read: () throws -> String?
  ) throws {
    try importLines(keepsIdentity) {
      guard let line = try read() else { return nil }
      let bytes = Array(line.utf8)
      return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
    }
  }

  /// Imports an archive into this server, which must be empty; imports everything or nothing.
  ///
  /// Throws as `importArchive(from:)` does.
  public func importArchive(
    _ archive: Data, keepsIdentity: Bool = true
  ) throws(CloudError) {
    var start = archive.startIndex
    do {
      try importLines(keepsIdentity) {
        guard start < archive.endIndex else { return nil }
        guard let end = archive[start...].firstIndex(of: UInt8(ascii: "\n")) else {
          throw CloudError(
            .invalidArguments,
            "the archive's last line has no end; it was cut short. Nothing was imported; take a "
              + "whole copy")
        }
        defer { start = end + 1 }
        return ArraySlice(Array(archive[start..<end]))
      }
    } catch {
      throw error as? CloudError ?? CloudError(.internalError, "the import failed: \(error)")
    }
  }

  /// Empties the server: removes accounts, databases, record types, files and receipts.
  ///
  /// Devices of this process, and devices that wait for pushes, remain and get none; their accounts
  /// are created again, with the same user names, at their next request. Other devices are
  /// forgotten. The server gets a new identity: every earlier change token and cursor
  /// is rejected as expired, and a recreated share has another URL.
  /// - Parameter identity: the number that binds tokens to the server from now on; by default a
  ///   random one. Pass an unused number to get the same tokens in every run.
  ///
  /// Throws `invalidArguments` if `identity` is the current identity, `networkFailure` after it was
  /// closed.
  public func reset(identity: UInt64? = nil) throws(CloudError) {
    try executor.replace { storage in
      let old = try storage.identity()
      var next = identity ?? .random(in: 0...(.max))
      while identity == nil, next == old { next = .random(in: 0...(.max)) }
      guard next != old else {
        throw CloudError(
          .invalidArguments, "a reset needs a new identity, or none")
      }
      try storage.commit([.removeEverything(identity: next, secret: .random())])
    }
    pushDispatcher.forgetRemoteDevices()
    controls.events.add(.replacement)
  }

  private func exportLines(_ includesSecret: Bool, to write: ([UInt8]) throws -> Void) throws {
    var failure: (any Error)?
    do {
      // Lines that were written can't be taken back.
      try executor.inspectSnapshot { storage in
        try withoutActuallyEscaping(write) { write in
          var writer = ArchiveWriter(storage, includesSecret: includesSecret) { line in
            do { try write(line) } catch {
              failure = error
              throw error
            }
          }
          try writer.run()
        }
      }
    } catch { throw failure ?? error }
  }

  private func importLines(
    _ keepsIdentity: Bool, from read: () throws -> ArraySlice<UInt8>?
  ) throws {
    var failure: (any Error)?
    do {
      try executor.replace { storage in
        guard try storage.isEmpty else {
          throw CloudError(
            .serverRejectedRequest,
            "an archive can be imported into an empty server only; reset this one, or take "
              + "another")
        }
        let hasAccounts = try storage.accounts().isEmpty == false
        if hasAccounts {
          // The accounts of the archive replace those that have no data.
          try storage.commit([
            .removeEverything(identity: storage.identity(), secret: storage.secret())
          ])
        }
        func next() throws -> ArraySlice<UInt8>? {
          do { return try read() } catch {
            failure = error
            throw error
          }
        }
        var reader = ArchiveReader(storage, keepsIdentity: keepsIdentity)
        while let line = try next() { try reader.take(line) }
        try reader.finish()
      }
    } catch { throw failure ?? error }
    controls.events.add(.replacement)
  }
}

extension CloudStorage {
  /// Whether the storage is empty, apart from accounts without data.
  fileprivate var isEmpty: Bool {
    get throws {
      try accounts().allSatisfy { $0.quota == nil && $0.person == AccountRow.Person() }
        && databases().isEmpty && recordTypes().isEmpty && schemas().isEmpty
        && assetChecksums().isEmpty && receiptKeys().isEmpty
    }
  }
}
