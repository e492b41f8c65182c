public import Foundation
public import SyncedStore

/// The documents of the first version of a store, in its folder.
///
/// A store reads them when it has no file yet, and removes them when it has one; a crash in between
/// repeats this.
public struct DocumentFolder: Sendable {
  private let directory: URL
  private let isRecovering: Bool

  /// Names a folder; nothing is read.
  ///
  /// - Parameter isRecovering: whether damaged documents are set aside, and count as missing.
  public init(_ directory: URL, recovering isRecovering: Bool) {
    self.directory = directory
    self.isRecovering = isRecovering
  }

  /// The document with a name.
  public func file(_ name: String) -> AtomicFile {
    AtomicFile(directory.appendingPathComponent(name))
  }

  /// The content of a document; `nil` if there is none, or it was damaged and set aside.
  ///
  /// - Throws: `FileError`, as `DocumentFile.read(recovering:)`.
  public func read<Body: Codable & Sendable>(
    _ type: Body.Type, _ name: String, format: String
  ) throws(FileError) -> Body? {
    try DocumentFile<Body>(directory.appendingPathComponent(name), format: format)
      .read(recovering: isRecovering).body
  }

  /// Opens a store that takes the documents over, and removes them.
  ///
  /// - Parameters:
  ///   - names: the names of the documents.
  ///   - open: opens the store; it imports the documents if there is no file of the store yet.
  public func takeOver(
    _ names: [String], _ open: (_ directory: URL, _ isRecovering: Bool) throws -> SyncedStore
  ) throws -> SyncedStore {
    let store = try open(directory, isRecovering)
    for name in names { try file(name).removeFile() }
    return store
  }
}
