public import Foundation

/// Every change the cloud has not confirmed, in a file: it survives restarts, holds nothing twice
/// and loses nothing.
///
/// A change enters when it is made, not only when a send failed, and leaves when the cloud
/// confirmed that very change. A value; its owner guards it and decides when it is written.
public struct OfflineQueue: Sendable {
  /// What is to happen to an item in the cloud.
  public enum Change: String, Hashable, Sendable, Codable {
    /// It is to be saved.
    case save
    /// It is to be deleted.
    case delete
  }

  /// One change that waits.
  public struct Entry: Hashable, Sendable, Codable {
    /// The item.
    public var id: UUID
    /// What is to happen to it.
    public var change: Change
    /// Tells this change from earlier and later ones of the same item; ascending.
    public var number: UInt64
    /// Whether it was handed out to be sent, so that the cloud may have it already.
    public var wasOffered = false
  }

  /// Where the queue keeps itself; `nil` when its owner does.
  private let document: DocumentFile<[Entry]>?
  private var byID: [UUID: Entry] = [:]
  private var lastNumber: UInt64 = 0
  private var isWritten = true

  /// What was set aside when the queue was opened, if anything.
  public let recovery: FileRecovery?

  /// Whether there was no file to read: then changes may be lost that nobody knows of any more.
  public let isNew: Bool

  /// Opens the queue kept at `url`; without a file it is empty.
  ///
  /// - Parameter isRecovering: whether a damaged file is set aside; then the queue is empty.
  /// - Throws: `FileError` when the file is damaged or can't be read; it is left as it is.
  public init(_ url: URL, recovering isRecovering: Bool = false) throws(FileError) {
    let document = DocumentFile<[Entry]>(url, format: "offline-queue")
    self.document = document
    let reading = try document.read(recovering: isRecovering)
    recovery = reading.recovery
    isNew = reading.body == nil
    for entry in reading.body ?? [] { restore(entry) }
    isWritten = !isNew
  }

  /// A queue without a file: its owner writes down each entry with the item it is about, in one
  /// go, and hands all of them over again at the next start.
  public init(entries: some Sequence<Entry> = []) {
    document = nil
    recovery = nil
    isNew = false
    for entry in entries { restore(entry) }
  }

  /// Puts an entry in as it was handed over by a queue before: at a start, or to undo a change.
  public mutating func restore(_ entry: Entry) {
    isWritten = false
    byID[entry.id] = entry
    lastNumber = max(lastNumber, entry.number)
  }

  /// Whether nothing waits.
  public var isEmpty: Bool { byID.isEmpty }

  /// How many items wait.
  public var count: Int { byID.count }

  /// What waits, oldest first.
  public var entries: [Entry] { byID.values.sorted { $0.number < $1.number } }

  /// What waits for the item `id`.
  public subscript(id: UUID) -> Entry? { byID[id] }

  /// Notes a change; it takes the place of what waited for the same item.
  public mutating func put(_ change: Change, _ id: UUID) {
    // After 2^64 changes the numbers begin again; only two of the same item are ever compared.
    lastNumber &+= 1
    byID[id] = Entry(id: id, change: change, number: lastNumber)
    isWritten = false
  }

  /// Notes that the changes of these items are about to be sent; write the queue before they are.
  public mutating func noteOffered(_ ids: some Sequence<UUID>) {
    for id in ids where byID[id]?.wasOffered == false {
      byID[id]?.wasOffered = true
      isWritten = false
    }
  }

  /// Whether the fate of a change is unknown: it was sent before and never answered for.
  public var hasOffered: Bool { byID.values.contains { $0.wasOffered } }

  /// Takes a change out that the cloud confirmed, unless a later one of the same item took its
  /// place meanwhile.
  ///
  /// - Returns: whether it was taken out.
  @discardableResult
  public mutating func settle(_ id: UUID, number: UInt64) -> Bool {
    guard byID[id]?.number == number else { return false }
    byID[id] = nil
    isWritten = false
    return true
  }

  /// Takes out whatever waits for the item `id`.
  public mutating func drop(_ id: UUID) {
    if byID.removeValue(forKey: id) != nil { isWritten = false }
  }

  /// Empties the queue, on the disk too.
  ///
  /// - Throws: `FileError` when the file can't be removed; memory is empty all the same.
  public mutating func clear() throws(FileError) {
    byID = [:]
    isWritten = true
    try document?.file.remove()
  }

  /// Counts the queue as not written, so that the next `write()` writes it in any case.
  public mutating func touch() {
    isWritten = false
  }

  /// Makes the queue durable; costs nothing when nothing changed.
  ///
  /// - Throws: `FileError` when it can't be written; the next call tries again.
  public mutating func write() throws(FileError) {
    guard !isWritten else { return }
    try document?.write(entries)
    isWritten = true
  }
}
