import CloudMachine
import Foundation
import LoopbackServer

/// Where a world's server keeps its rows: in memory, or in every eighth world in an SQLite file,
/// which is opened again when the server restarts.
struct WorldStorage {
  private let identity: UInt64
  /// The file's folder, which is the world's own; `nil` for memory.
  private let folder: URL?

  /// The storage of the world of `seed`, which alone decides on its kind.
  init(seed: UInt64) {
    identity = seed &+ 1
    guard seed % 8 == 3 else {
      folder = nil
      return
    }
    let memory = "/dev/shm"
    let place =
      FileManager.default.isWritableFile(atPath: memory)
      ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    folder = place.appendingPathComponent("cloudsync-simulate-\(seed)-\(UUID().uuidString)")
  }

  /// A storage with nothing in it.
  func open() throws -> any CloudStorage {
    guard let folder else { return MemoryStorage(identity: identity) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try ServerStorage.file(path: path(in: folder), identity: identity)
  }

  /// The storage of a restarted server: the file, or the same memory.
  func reopened(_ storage: any CloudStorage) throws -> any CloudStorage {
    guard let folder else { return storage }
    return try ServerStorage.file(path: path(in: folder), identity: identity)
  }

  /// Takes the file away.
  func remove() { if let folder { try? FileManager.default.removeItem(at: folder) } }

  private func path(in folder: URL) -> String { folder.appendingPathComponent("server").path }
}
