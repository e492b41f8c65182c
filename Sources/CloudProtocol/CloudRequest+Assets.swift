public import Records

/// Brings a file's content to the server, ahead of the save of the record that holds it.
///
/// The answer is the asset to save, with a receipt. Content that no saved record holds is
/// forgotten after a while.
public struct UploadAsset: Hashable, Sendable, Codable {
  /// The type of the record that will hold it.
  public var recordType: String
  /// The field that will hold it.
  public var key: String
  /// The content.
  public var content: [UInt8]

  /// Asks to keep `content`.
  public init(recordType: String, key: String, content: [UInt8]) {
    self.recordType = recordType
    self.key = key
    self.content = content
  }
}

/// Asks for a file's content, by the record that holds it, since who may read the one may read
/// the other.
public struct DownloadAsset: Hashable, Sendable, Codable {
  /// The record.
  public var record: RecordID
  /// Its field.
  public var key: String
  /// The checksum the field had when it was read; tells one of a list from another.
  public var checksum: String

  /// Asks for the content of the field `key` of `record`.
  public init(record: RecordID, key: String, checksum: String) {
    self.record = record
    self.key = key
    self.checksum = checksum
  }
}
