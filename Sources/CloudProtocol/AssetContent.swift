import Records

/// The content of a file: bytes in memory, or parts that are read when they are needed.
///
/// A server returns a large file in parts, so that a transfer needs the memory of one part only. A
/// part can fail to be read, such as when the file was deleted in the meantime. Two contents are
/// equal if their bytes are.
///
/// Isolation: reading may block; call from any thread.
public struct AssetContent: Sendable, ExpressibleByArrayLiteral, Hashable {
  /// A function that returns the bytes of a range within the content.
  package typealias Reader = @Sendable (Range<Int>) throws(CloudError) -> [UInt8]

  private enum Source: Sendable {
    case memory([UInt8])
    /// A file of this process, or one in a server's storage, whose lock a read takes.
    case reader(Reader, isStored: Bool)
  }

  /// The maximum size of a part in bytes.
  public static let partBytes = 1 << 20

  /// The number of bytes.
  public let count: Int
  private let source: Source
  /// The SHA-256 of the bytes, if it is known.
  private var knownChecksum: String?

  /// Creates content of bytes in memory.
  public init(_ bytes: [UInt8]) {
    count = bytes.count
    source = .memory(bytes)
  }

  /// Creates content that is read from a file, which must not change.
  package init(count: Int, reading reader: @escaping Reader) {
    self.count = count
    source = .reader(reader, isStored: false)
  }

  /// Creates content that is read from the storage of a server, under the server's lock.
  package init(storedCount count: Int, reading reader: @escaping Reader) {
    self.count = count
    source = .reader(reader, isStored: true)
  }

  /// Whether all bytes are in memory.
  public var isInMemory: Bool {
    if case .memory = source { true } else { false }
  }

  /// The bytes of a range, which is clamped to the content.
  ///
  /// - Throws: `assetNotAvailable` if they can't be read.
  public func bytes(in range: Range<Int>) throws(CloudError) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    switch source {
    case .memory(let bytes): return range.count == count ? bytes : Array(bytes[range])
    case .reader(let reader, _):
      let bytes = try reader(range)
      guard bytes.count == range.count else {
        throw CloudError(.assetNotAvailable, "the file was removed or cut while it was read")
      }
      return bytes
    }
  }

  /// All bytes.
  ///
  /// - Throws: `assetNotAvailable` if they can't be read.
  public func bytes() throws(CloudError) -> [UInt8] { try bytes(in: 0..<count) }

  /// The content from `range`, which is clamped; nothing is read.
  package func part(_ range: Range<Int>) throws(CloudError) -> AssetContent {
    let range = range.clamped(to: 0..<count)
    switch source {
    case .memory: return AssetContent(try bytes(in: range))
    case .reader where range.count == count: return self
    case .reader(let reader, let isStored):
      let start = range.lowerBound
      let inner: Reader = { (asked) throws(CloudError) in
        try reader(asked.lowerBound + start..<asked.upperBound + start)
      }
      return isStored
        ? AssetContent(storedCount: range.count, reading: inner)
        : AssetContent(count: range.count, reading: inner)
    }
  }

  /// Calls `body` with each part of at most ``partBytes``, in order; once, if there are no bytes.
  package func forEachPart(_ body: (_ part: [UInt8]) throws -> Void) throws {
    var start = 0
    repeat {
      let end = min(count, start + AssetContent.partBytes)
      try body(try bytes(in: start..<end))
      start = end
    } while start < count
  }

  /// The SHA-256 of the bytes in hexadecimal digits; reads them all, unless it is known.
  package func checksum() throws(CloudError) -> String {
    if let knownChecksum { return knownChecksum }
    var hash = SHA256()
    var start = 0
    while start < count {
      let end = min(count, start + AssetContent.partBytes)
      hash.update(try bytes(in: start..<end))
      start = end
    }
    return hash.hexadecimalDigest
  }

  /// The same content for an upload: its checksum is known, and reading it takes no server's lock.
  package func preparedForUpload() throws(CloudError) -> AssetContent {
    var content = self
    if case .reader(_, isStored: true) = source { content = AssetContent(try bytes()) }
    content.knownChecksum = try content.checksum()
    return content
  }

  /// Creates content of the bytes in a literal.
  public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }

  /// Whether the bytes are equal; a content that can't be read equals none.
  public static func == (first: AssetContent, second: AssetContent) -> Bool {
    guard first.count == second.count else { return false }
    do throws(CloudError) { return try first.bytes() == second.bytes() } catch { return false }
  }

  /// Hashes the number of bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension AssetContent: Codable {
  /// Decodes a list of bytes.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode([UInt8].self))
  }

  /// Encodes all bytes as a list.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(try bytes())
  }
}
