import CloudProtocol
public import Records

/// The content of files, each once, with the number of records and receipts that refer to it.
struct MemoryFiles {
  private(set) var uploads: [String: UploadRow] = [:]
  private(set) var contents: [String: AssetContent] = [:]
  private var uses: [String: Int] = [:]

  mutating func put(_ row: UploadRow, _ content: AssetContent) {
    // Content is identified by its checksum, so existing content is identical.
    if contents[row.checksum] == nil { contents[row.checksum] = content }
    hold(row.checksum)
    if let old = uploads.updateValue(row, forKey: row.receipt) { release(old.checksum) }
  }

  mutating func removeUpload(_ receipt: String) {
    if let old = uploads.removeValue(forKey: receipt) { release(old.checksum) }
  }

  private mutating func hold(_ checksum: String) { uses[checksum, default: 0] += 1 }

  private mutating func release(_ checksum: String) {
    let left = (uses[checksum] ?? 0) - 1
    if left > 0 {
      uses[checksum] = left
    } else {
      uses[checksum] = nil
      contents[checksum] = nil
    }
  }

  /// Updates the reference counts when a record replaces another.
  ///
  /// The new ones are counted first, so that a file in both never seems unused.
  mutating func replaceFiles(of old: Record?, with new: Record?) {
    for checksum in new?.assetChecksums ?? [] { hold(checksum) }
    for checksum in old?.assetChecksums ?? [] { release(checksum) }
  }
}

extension MemoryStorage {
  /// The bytes of a range of the content with this checksum.
  public func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]? {
    try current.files.contents[checksum]?.bytes(in: range)
  }

  /// The upload with this receipt.
  public func upload(_ receipt: String) throws -> UploadRow? { current.files.uploads[receipt] }

  /// The receipts of uploads made at `time` or before, oldest first.
  public func uploads(through time: Timestamp, limit: Int) throws -> [String] {
    current.files.uploads.values.filter { $0.time <= time }
      .sorted {
        ($0.time.secondsSinceReferenceDate, $0.receipt)
          < ($1.time.secondsSinceReferenceDate, $1.receipt)
      }
      .prefix(max(0, limit)).map(\.receipt)
  }
}

extension [StorageChange] {
  /// The same changes, whose uploads are in memory.
  func withFilesInMemory() throws(CloudError) -> [StorageChange] {
    var changes = self
    for (index, change) in enumerated() {
      guard case .putUpload(let row, let content) = change, !content.isInMemory else { continue }
      changes[index] = .putUpload(row, content: AssetContent(try content.bytes()))
    }
    return changes
  }
}
