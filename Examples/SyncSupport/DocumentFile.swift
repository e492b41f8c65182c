public import Foundation

/// A value kept in a file as JSON, with its format's name and version and a checksum, so that a
/// damaged file is noticed instead of believed.
///
/// The file is one JSON object: `{"checksum":"…","format":"…","version":1,"body":…}`. The checksum
/// covers the bytes of the body. Same value, same bytes.
public struct DocumentFile<Body: Codable & Sendable>: Sendable {
  /// The file on disk.
  public let file: AtomicFile

  /// The format's name, such as `tabs`.
  public let format: String

  /// The version this build writes, and the newest it reads.
  public let version: Int

  /// Names the document at `url`.
  public init(_ url: URL, format: String, version: Int = 1) {
    self.file = AtomicFile(url)
    self.format = format
    self.version = version
  }

  /// What the document holds, or `nil` when there is none.
  ///
  /// - Throws: `FileError` when it can't be read, is damaged, is of another format, or was written
  ///   by a newer version; the file is left as it is.
  public func read() throws(FileError) -> Body? {
    guard let data = try file.read() else { return nil }
    let separator = Data(#","body":"#.utf8)
    guard let split = data.range(of: separator), data.last == UInt8(ascii: "}") else {
      throw damaged("it is not a document of this program, or it is damaged")
    }
    let head: Head
    do {
      head = try JSONDecoder().decode(
        Head.self, from: data[..<split.lowerBound] + Data("}".utf8))
    } catch {
      throw damaged("its first line is damaged")
    }
    guard head.format == format else { throw damaged("it is of another format") }
    guard head.version <= version else {
      throw FileError(
        .use, file.url,
        "a newer version of this program wrote it (format \(head.version)). Nothing was changed; "
          + "use that version.")
    }
    let body = data[split.upperBound..<data.index(before: data.endIndex)]
    guard head.checksum == AtomicFile.checksum(body) else {
      throw damaged("its checksum does not match: it is damaged, or was changed by something else")
    }
    do {
      return try JSONDecoder().decode(Body.self, from: body)
    } catch {
      throw damaged("its content does not match its format")
    }
  }

  /// What a document holds, and what had to be set aside to say so.
  public struct Reading: Sendable {
    /// The content; `nil` when there is no file, or a damaged one was set aside.
    public let body: Body?
    /// What was set aside, if anything.
    public let recovery: FileRecovery?
  }

  /// What the document holds; with recovery, a damaged one counts as missing.
  ///
  /// The damaged file is copied to a name of its own and stays in place until the next `write`. So
  /// a store first sees to it that the cloud is read from its beginning, and writes then: a crash
  /// in between repeats the recovery. A file of a newer version is not damaged and never set aside.
  /// - Parameter isRecovering: whether to set a damaged file aside instead of throwing.
  /// - Throws: `FileError`, as `read()`; with recovery, only for files that are of a newer version,
  ///   can't be read at all, or can't be copied.
  public func read(recovering isRecovering: Bool) throws(FileError) -> Reading {
    do {
      return Reading(body: try read(), recovery: nil)
    } catch {
      guard isRecovering, error.step == .understand, let copy = try file.setAside() else {
        throw error
      }
      return Reading(body: nil, recovery: FileRecovery(error, copy: copy))
    }
  }

  /// Replaces the document by `body`; durable when it returns.
  ///
  /// - Throws: `FileError`; the old document is untouched then.
  public func write(_ body: Body) throws(FileError) {
    let bytes: Data
    do {
      bytes = try body.canonicalJSON
    } catch {
      throw FileError(.write, file.url, "its content can't be written as JSON")
    }
    let checksum = AtomicFile.checksum(bytes)
    let head =
      #"{"checksum":"\#(checksum)","format":"\#(format)","version":\#(version),"body":"#
    var data = Data(head.utf8)
    data.append(bytes)
    data.append(UInt8(ascii: "}"))
    try file.write(data)
  }

  private struct Head: Decodable {
    var checksum: String
    var format: String
    var version: Int
  }

  private func damaged(_ reason: String) -> FileError {
    FileError(
      .understand, file.url,
      "\(reason). Nothing was changed; open with recovery to set it aside and go on without it.")
  }
}
