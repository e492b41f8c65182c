import CloudProtocol
import Disk
import Foundation

/// A body that arrives in pieces: bytes in memory, or beyond some size a file.
///
/// The file has no name, so the system removes it when it is not used any more, even after a crash.
/// Pieces are collected in memory and written together, since a chunk can have a single byte.
struct HTTPBody {
  /// The maximum size in memory of a body that may be stored in a file.
  static let memoryBytes = 65536

  private(set) var count = 0
  /// The number of bytes in memory.
  var bytesInMemory: Int { bytes.count }
  /// The bytes that are not in the file: all of them, if there is no file.
  private var bytes: [UInt8] = []
  private var file: (any DiskFile)?
  /// Makes the file of a large body; `nil` if it is kept in memory.
  private let makeFile: (@Sendable () throws(DiskError) -> any DiskFile)?

  /// Creates an empty body, whose bytes are in memory whatever its size.
  init() { makeFile = nil }

  /// Creates an empty body that is stored in a file if it is large.
  init(file makeFile: @escaping @Sendable () throws(DiskError) -> any DiskFile) {
    self.makeFile = makeFile
  }

  /// Creates an empty body that is stored in a temporary file if it is large.
  init(usesFile: Bool) {
    if usesFile { self.init(file: HTTPBody.temporaryFile) } else { self.init() }
  }

  /// Appends a piece.
  mutating func append(_ piece: [UInt8]) throws(HTTPRefusal) {
    if bytes.isEmpty { bytes = piece } else { bytes += piece }
    count += piece.count
    if makeFile != nil, bytes.count > HTTPBody.memoryBytes { try write() }
  }

  /// Moves the bytes in memory to the file.
  private mutating func write() throws(HTTPRefusal) {
    guard let makeFile else { return }
    do throws(DiskError) {
      if file == nil { file = try makeFile() }
      try file?.write(all: bytes[...], at: count - bytes.count)
    } catch {
      throw HTTPRefusal(503, "the server has no space for the body: \(error)")
    }
    bytes = []
  }

  /// The request with this body, which is complete.
  mutating func request(_ head: HTTPRequestHead) throws(HTTPRefusal) -> HTTPRequest {
    makeFile == nil
      ? HTTPRequest(head: head, body: bytes) : HTTPRequest(head: head, file: try content())
  }

  /// The whole body.
  mutating func content() throws(HTTPRefusal) -> AssetContent {
    guard let file else { return AssetContent(bytes) }
    if !bytes.isEmpty { try write() }
    return AssetContent(count: count) { (range) throws(CloudError) in
      do throws(DiskError) {
        return try file.read(upToCount: range.count, at: range.lowerBound)
      } catch {
        throw CloudError(.assetNotAvailable, "the stored body can't be read: \(error)")
      }
    }
  }

  @Sendable private static func temporaryFile() throws(DiskError) -> any DiskFile {
    let name = "cloudsync-body-\(UUID().uuidString)"
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    let disk = SystemDisk()
    let file = try disk.open(path, .create)
    try disk.remove(path)
    return file
  }
}
