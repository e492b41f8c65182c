import CloudProtocol
import Disk
import Foundation

/// A body that arrives in pieces: bytes in memory, or beyond some size a file.
///
/// The file has no name, so the system removes it when it is not used any more, even after a crash.
struct HTTPBody {
  /// The maximum size in memory of a body that may be stored in a file.
  private static let memoryBytes = 65536

  private(set) var count = 0
  private var bytes: [UInt8] = []
  private var file: (any DiskFile)?
  /// Whether a large body is stored in a file.
  private let usesFile: Bool

  init(usesFile: Bool = false) { self.usesFile = usesFile }

  /// Appends a piece.
  mutating func append(_ piece: [UInt8]) throws(HTTPRefusal) {
    do throws(DiskError) {
      if usesFile, file == nil, count + piece.count > HTTPBody.memoryBytes {
        let file = try HTTPBody.temporaryFile()
        try file.write(all: bytes[...], at: 0)
        self.file = file
        bytes = []
      }
      if let file {
        try file.write(all: piece[...], at: count)
      } else if bytes.isEmpty {
        bytes = piece
      } else {
        bytes += piece
      }
    } catch {
      throw HTTPRefusal(503, "the server has no space for the body: \(error)")
    }
    count += piece.count
  }

  /// The request with this body.
  func request(_ head: HTTPRequestHead) -> HTTPRequest {
    usesFile ? HTTPRequest(head: head, file: content) : HTTPRequest(head: head, body: bytes)
  }

  /// The whole body.
  var content: AssetContent {
    guard let file else { return AssetContent(bytes) }
    return AssetContent(count: count) { (range) throws(CloudError) in
      do throws(DiskError) {
        return try file.read(upToCount: range.count, at: range.lowerBound)
      } catch {
        throw CloudError(.assetNotAvailable, "the stored body can't be read: \(error)")
      }
    }
  }

  private static func temporaryFile() throws(DiskError) -> any DiskFile {
    let name = "cloudsync-body-\(UUID().uuidString)"
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    let disk = SystemDisk()
    let file = try disk.open(path, .create)
    try disk.remove(path)
    return file
  }
}
