public import Records

/// The part of ``CloudStorage`` for the content of files.
///
/// Content is identified by its SHA-256 and stored once. It is removed with the last record or
/// upload receipt that refers to it.
public protocol AssetStorage: AnyObject {
  /// The bytes of a range of the content with this checksum; `nil` if there is no such content.
  ///
  /// - Parameters:
  ///   - checksum: the content's SHA-256.
  ///   - range: the range, which is clamped to the content.
  func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]?

  /// The upload with this receipt.
  func upload(_ receipt: String) throws -> UploadRow?

  /// The receipts of uploads made at `time` or before, oldest first, at most `limit`.
  func uploads(through time: Timestamp, limit: Int) throws -> [String]
}

extension AssetStorage {
  /// All bytes of the content with this checksum; `nil` if there is no such content.
  public func assetContent(_ checksum: String) throws -> [UInt8]? {
    try assetContent(checksum, in: 0..<Int.max)
  }
}

/// An uploaded file that may be saved in records.
public struct UploadRow: Hashable, Sendable, Codable {
  /// The receipt of the upload.
  public var receipt: String
  /// The user who uploaded the file.
  public var user: UserID
  /// The record type, with its container and environment, for which the file was uploaded.
  public var recordType: RecordTypeID
  /// The field for which the file was uploaded.
  public var key: String
  /// The content's SHA-256.
  public var checksum: String
  /// The content's length in bytes.
  public var size: Int
  /// The time of the upload.
  public var time: Timestamp

  /// Creates the row of an upload.
  public init(
    receipt: String, user: UserID, recordType: RecordTypeID, key: String, checksum: String,
    size: Int, time: Timestamp
  ) {
    self.receipt = receipt
    self.user = user
    self.recordType = recordType
    self.key = key
    self.checksum = checksum
    self.size = size
    self.time = time
  }
}

extension Record {
  /// The checksums of the record's files, each once, in order.
  public var assetChecksums: [String] {
    var checksums: Set<String> = []
    for element in fields {
      for asset in element.field.value.assets { checksums.insert(asset.checksum) }
    }
    return checksums.sorted()
  }

  /// The bytes that the record counts toward a quota, including its files.
  package var storedByteCount: Int { storedByteCount(withoutFiles: byteCount) }

  /// The same for a record whose `byteCount` is known.
  func storedByteCount(withoutFiles byteCount: Int) -> Int {
    fields.reduce(byteCount) { sum, element in
      element.field.value.assets.reduce(sum) {
        let (total, isTooMuch) = $0.addingReportingOverflow(max(0, $1.size))
        return isTooMuch ? .max : total
      }
    }
  }
}
