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
      throw damaged("it is no document of this program, or it is damaged")
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
      throw damaged("a newer version of this program wrote it (format \(head.version))")
    }
    let body = data[split.upperBound..<data.index(before: data.endIndex)]
    guard head.checksum == Self.checksum(body) else {
      throw damaged("its checksum does not fit: it is damaged, or was changed by something else")
    }
    do {
      return try JSONDecoder().decode(Body.self, from: body)
    } catch {
      throw damaged("its content does not fit its format")
    }
  }

  /// Replaces the document by `body`; durable when it returns.
  ///
  /// - Throws: `FileError`; the old document is untouched then.
  public func write(_ body: Body) throws(FileError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes: Data
    do {
      bytes = try encoder.encode(body)
    } catch {
      throw FileError(.write, file.url, "its content can't be written as JSON")
    }
    let head =
      #"{"checksum":"\#(Self.checksum(bytes))","format":"\#(format)","version":\#(version),"body":"#
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
    FileError(.understand, file.url, "\(reason). Nothing was changed; move it away to start anew.")
  }

  /// FNV-1a over 64 bits, as 16 hexadecimal digits.
  private static func checksum(_ bytes: Data) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    bytes.withUnsafeBytes { buffer in
      for byte in buffer {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
