package import Records

/// The part of the port that keeps the content of files.
///
/// Content is named by its SHA-256 and kept once, whoever brought it. It lives as long as a record
/// or an upload's receipt names it: the change that takes away the last of these takes it too.
package protocol AssetStorage: AnyObject {
  /// The content with this checksum.
  func assetContent(_ checksum: String) throws -> [UInt8]?

  /// What is known of an upload.
  func upload(_ receipt: String) throws -> UploadRow?

  /// The receipts of uploads made at `time` or before, oldest first, at most `limit`.
  func uploads(through time: Timestamp, limit: Int) throws -> [String]
}

/// A file that was brought and may be put into records.
package struct UploadRow: Hashable, Sendable, Codable {
  /// The receipt that was given for it.
  package var receipt: String
  /// Who brought it.
  package var user: UserID
  /// The type and world of the records that may hold it.
  package var recordType: RecordTypeID
  /// The field that may hold it.
  package var key: String
  /// The content's SHA-256.
  package var checksum: String
  /// The content's length in bytes.
  package var size: Int
  /// When it was brought.
  package var time: Timestamp

  /// Notes an upload.
  package init(
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
  /// The checksums of the files it holds, each once, in order.
  package var assetChecksums: [String] {
    var checksums: Set<String> = []
    for element in fields {
      for asset in element.field.value.assets { checksums.insert(asset.checksum) }
    }
    return checksums.sorted()
  }

  /// What the record counts toward a quota, in bytes: with the files it holds.
  package var storedByteCount: Int {
    fields.reduce(byteCount) { sum, element in
      element.field.value.assets.reduce(sum) {
        let (total, isTooMuch) = $0.addingReportingOverflow(max(0, $1.size))
        return isTooMuch ? .max : total
      }
    }
  }
}
