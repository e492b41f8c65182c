import CloudProtocol
import Disk
import Foundation
import Synchronization
import Testing

@testable import LoopbackHTTP

@Suite("Bodies that arrive in pieces")
struct BodyTests {
  /// A file in memory that counts its writes.
  private final class CountingFile: DiskFile {
    private let state = Mutex((bytes: [UInt8](), writes: 0))

    var writes: Int { state.withLock { $0.writes } }

    func read(
      into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(DiskError) -> Int {
      state.withLock { state in
        let bytes = state.bytes.dropFirst(offset).prefix(buffer.count)
        buffer.copyBytes(from: bytes)
        return bytes.count
      }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) -> Int {
      let isAtEnd = state.withLock { state in
        guard offset == state.bytes.count else { return false }
        state.bytes += bytes
        state.writes += 1
        return true
      }
      guard isAtEnd else { throw .failed }
      return bytes.count
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int { throw .failed }
    func size() throws(DiskError) -> Int { state.withLock { $0.bytes.count } }
    func truncate(to size: Int) throws(DiskError) { throw .failed }
    func synchronize() throws(DiskError) {}
  }

  @Test(
    "A body of single bytes is written in large parts, and is whole", arguments: [1, 700, 70_000])
  func smallPiecesAreWrittenTogether(pieceBytes: Int) throws {
    let file = CountingFile()
    var body = HTTPBody { file }
    let content = (0..<300_001).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
    for start in stride(from: 0, to: content.count, by: pieceBytes) {
      try body.append(Array(content[start..<min(content.count, start + pieceBytes)]))
    }
    #expect(body.count == content.count)
    #expect((3...5).contains(file.writes), "\(file.writes) writes")
    let whole = try body.content()
    #expect(try whole.bytes() == content)
    #expect(try whole.bytes(in: 65_530..<65_550) == Array(content[65_530..<65_550]))
    #expect(try file.size() == content.count && file.writes <= 6)
  }

  @Test("A small body has no file")
  func smallBodyHasNoFile() throws {
    let file = CountingFile()
    var body = HTTPBody { file }
    for _ in 0..<2 { try body.append([UInt8](repeating: 7, count: 32_768)) }
    let whole = try body.content()
    #expect(whole.count == 65_536 && whole.isInMemory)
    #expect(file.writes == 0)
  }

  @Test("The file of a large body has no name, so that nothing is left of it")
  func fileOfBodyHasNoName() throws {
    let folder = FileManager.default.temporaryDirectory.path
    func names() throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: folder))
        .filter { $0.hasPrefix("cloudsync-body-") }
    }
    let before = try names()
    var body = HTTPBody(usesFile: true)
    let content = [UInt8](repeating: 9, count: HTTPBody.memoryBytes + 1)
    try body.append(content)
    #expect(body.bytesInMemory == 0 && body.count == content.count)
    var new = try names().subtracting(before)
    // Those of other tests are there for a moment.
    for _ in 0..<1_000 where !new.isEmpty { new.formIntersection(try names()) }
    #expect(new.isEmpty)
    #expect(try body.content().bytes() == content)
    var small = HTTPBody(usesFile: false)
    try small.append(content)
    #expect(small.bytesInMemory == content.count)
  }

  @Test("A body whose file fails is refused with 503")
  func failingFileIsRefused() throws {
    var body = HTTPBody { () throws(DiskError) in throw .failed }
    try body.append([UInt8](repeating: 7, count: 65_536))
    let refusal = #expect(throws: HTTPRefusal.self) { try body.append([7]) }
    #expect(refusal?.status == 503)
  }
}
