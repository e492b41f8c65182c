public import Foundation
public import SyncedStore

/// The documents of the first version of a store, in its folder.
///
/// A store reads them when it has no file yet, and removes them when it has one; a crash in between
/// repeats this.
public struct DocumentFolder: Sendable {
  /// The name of the document of the records that the first version could not read.
  public static let kept = "cloud-kept-records.json"

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

  /// The system fields of records by the records' names; empty if there is no document.
  public func systemFields(_ name: String) throws(FileError) -> [String: Data] {
    try read([String: Data].self, name, format: "record-metadata") ?? [:]
  }

  /// Imports what is not an item: the records of ``kept``, and the engine's state.
  ///
  /// - Parameter state: the name of the file of the engine's state; `nil` if the state knows of
  ///   more than the documents.
  public func add(to content: inout SyncedStoreImport, state: String?) throws(FileError) {
    let kept = try read([String: Data].self, Self.kept, format: "kept-records") ?? [:]
    for archive in kept.sorted(by: { $0.key < $1.key }).map(\.value) {
      if let record = CKRecord(archive: archive) { content.addUnreadable(record) }
    }
    if let state, let data = try file(state).read() { content.takeOverState(data) }
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
