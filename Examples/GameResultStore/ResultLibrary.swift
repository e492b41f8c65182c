import Foundation
import SyncSupport

/// All results of one device, kept in `results.json`.
///
/// A value; its owner guards it.
struct ResultLibrary: Sendable {
  private let document: DocumentFile<[GameResult]>
  private var byID: [UUID: GameResult] = [:]
  private var isWritten = true

  /// What was set aside when the results were opened, if anything.
  let recovery: FileRecovery?

  /// Whether there is no file to read the results from: it is lost, or there never was one.
  let isNew: Bool

  /// Opens the results kept at `url`; without a file there are none.
  ///
  /// - Parameter isRecovering: whether a damaged file is set aside; then there are none.
  /// - Throws: `FileError` when the file is damaged or can't be read; it is left as it is.
  init(_ url: URL, recovering isRecovering: Bool) throws(FileError) {
    document = DocumentFile(url, format: "game-results")
    let reading = try document.read(recovering: isRecovering)
    recovery = reading.recovery
    isNew = reading.body == nil
    isWritten = reading.body != nil
    for result in reading.body ?? [] { byID[result.id] = result }
  }

  /// How many there are.
  var count: Int { byID.count }

  /// The IDs for which `isWanted` holds, in an order every run repeats.
  func ids(where isWanted: (UUID) -> Bool = { _ in true }) -> [UUID] {
    byID.keys.filter(isWanted).sorted { $0.precedes($1) }
  }

  /// All results, newest first.
  var newestFirst: [GameResult] { byID.values.sorted(by: GameResult.isNewer) }

  /// The result with an ID; assigning `nil` removes it.
  subscript(id: UUID) -> GameResult? {
    get { byID[id] }
    set {
      guard byID[id] != newValue else { return }
      byID[id] = newValue
      isWritten = false
    }
  }

  /// Removes everything, on the disk too.
  ///
  /// - Throws: `FileError` when the file can't be removed; memory is empty all the same.
  mutating func clear() throws(FileError) {
    byID = [:]
    isWritten = true
    try document.file.remove()
  }

  /// Makes the results durable; costs nothing when nothing changed.
  ///
  /// - Throws: `FileError` when they can't be written; the next call tries again.
  mutating func write() throws(FileError) {
    guard !isWritten else { return }
    try document.write(newestFirst)
    isWritten = true
  }
}
