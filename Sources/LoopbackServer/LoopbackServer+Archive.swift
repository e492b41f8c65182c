import CloudMachine
public import CloudProtocol
public import Foundation

/// A whole server as one file that people can read, and back.
///
/// An archive is JSON lines in UTF-8: a first line that names the form and its version, one line
/// for each account, record type, database, zone, record, tombstone, subscription, file, upload
/// and remembered answer, and a last line with a count and a checksum. Lines come in one order
/// that depends on nothing but what is stored, so two archives of one state are the same bytes
/// and archives of two states can be compared line by line. Everything survives bit for bit.
///
/// An archive carries the server's identity and its secret, so change tokens, cursors and the
/// URLs of shares go on to be valid on the server that imports it. Let only one of the two servers
/// answer clients from then on: what both gave out since can't be told apart. Whoever can read the
/// archive can read every record and work out every share's URL; keep it where only its owner can,
/// as a file with mode 0600.
extension LoopbackServer {
  /// Writes the server's archive line by line, each with the line feed that ends it.
  ///
  /// All lines are of one moment: the server answers nobody meanwhile, and `write` must not call
  /// it. Records are read page by page, and nothing written is kept. Throws what `write` throws,
  /// `networkFailure` after the server was closed, and what reading its file throws.
  public func exportArchive(to write: (String) throws -> Void) throws {
    try exportLines { line in try write(String(decoding: line, as: UTF8.self)) }
  }

  /// The server's archive as one piece of data.
  ///
  /// Throws `networkFailure` after the server was closed, and what reading its file throws.
  public func exportArchive() throws(CloudError) -> Data {
    var data = Data()
    do { try exportLines { data.append(contentsOf: $0) } } catch {
      throw error as? CloudError ?? CloudError(.internalError, "the export failed: \(error)")
    }
    return data
  }

  /// Puts what an archive holds into this server, which must be empty, all of it or nothing.
  ///
  /// Devices are not told. The server takes the archive's identity and secret. A server in a file
  /// holds the records of one zone in memory at a time.
  /// - Parameter read: gives the next line with or without the line feed that ends it, `nil`
  ///   after the last. It must not call the server, which answers nobody meanwhile.
  ///
  /// Throws `serverRejectedRequest` when the server holds anything, even an account;
  /// `invalidArguments`, naming the line, when the archive is damaged, cut short or none at all;
  /// `incompatibleVersion` when a newer version wrote it; and what `read` throws. Nothing was
  /// changed then.
  public func importArchive(from read: () throws -> String?) throws {
    try importLines {
      guard let line = try read() else { return nil }
      let bytes = Array(line.utf8)
      return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
    }
  }

  /// Puts what an archive holds into this server, which must be empty, all of it or nothing.
  ///
  /// Throws as `importArchive(from:)` does.
  public func importArchive(_ archive: Data) throws(CloudError) {
    var start = archive.startIndex
    do {
      try importLines {
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

  /// Empties the server: accounts, databases, record types, files and remembered answers go.
  ///
  /// Devices stay and are not told; their accounts are made anew, with the same user names, when
  /// they next ask. The server becomes another one: every change token and cursor of before is
  /// refused as expired, and a share made again has another URL.
  /// - Parameter identity: the number that binds tokens to the server from now on; by default a
  ///   random one. Give one that was never used to get the same tokens in every run.
  ///
  /// Throws `invalidArguments` when `identity` is the one the server has, `networkFailure` after
  /// it was closed.
  public func reset(identity: UInt64? = nil) throws(CloudError) {
    try room.replace { storage in
      let old = try storage.identity()
      var next = identity ?? .random(in: 0...(.max))
      while identity == nil, next == old { next = .random(in: 0...(.max)) }
      guard next != old else {
        throw CloudError(
          .invalidArguments, "a reset needs another identity than the server has, or none")
      }
      try storage.commit([.removeEverything(identity: next, secret: .random())])
    }
    controls.events.add(.replacement)
  }

  private func exportLines(to write: ([UInt8]) throws -> Void) throws {
    var failure: (any Error)?
    do {
      try room.inspect { _, storage in
        try withoutActuallyEscaping(write) { write in
          var writer = ArchiveWriter(storage) { line in
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

  private func importLines(from read: () throws -> ArraySlice<UInt8>?) throws {
    var failure: (any Error)?
    do {
      try room.replace { storage in
        guard try storage.isEmpty else {
          throw CloudError(
            .serverRejectedRequest,
            "an archive can be imported into an empty server only; reset this one, or take "
              + "another")
        }
        func next() throws -> ArraySlice<UInt8>? {
          do { return try read() } catch {
            failure = error
            throw error
          }
        }
        var reader = ArchiveReader(storage)
        while let line = try next() { try reader.take(line) }
        try reader.finish()
      }
    } catch { throw failure ?? error }
    controls.events.add(.replacement)
  }
}

extension CloudStorage {
  /// Whether nothing was ever stored, or all of it went.
  fileprivate var isEmpty: Bool {
    get throws {
      try accounts().isEmpty && databases().isEmpty && recordTypes().isEmpty && schemas().isEmpty
        && assetChecksums().isEmpty && receiptKeys().isEmpty
    }
  }
}
