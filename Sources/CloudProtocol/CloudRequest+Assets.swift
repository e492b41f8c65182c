public import Records

/// Uploads the content of an asset, before the save of its record.
///
/// The reply is the asset to save, with a receipt. Content without a saved record is removed after
/// a while.
public struct UploadAsset: Hashable, Sendable, Codable {
  /// The type of the record that will refer to the file.
  public var recordType: String
  /// The field of the asset.
  public var key: String
  /// The bytes of the file.
  public var content: AssetContent

  /// Creates a request.
  public init(recordType: String, key: String, content: AssetContent) {
    self.recordType = recordType
    self.key = key
    self.content = content
  }

  /// Creates a request with content in memory.
  public init(recordType: String, key: String, content: [UInt8]) {
    self.init(recordType: recordType, key: key, content: AssetContent(content))
  }
}

/// Downloads the content of an asset of a record.
///
/// Read access to the record gives access to its assets.
public struct DownloadAsset: Hashable, Sendable, Codable {
  /// The record that refers to the file.
  public var record: RecordID
  /// Its field.
  public var key: String
  /// The checksum of the asset as fetched, which identifies it in a list.
  public var checksum: String

  /// Creates a request for the field `key` of `record`.
  public init(record: RecordID, key: String, checksum: String) {
    self.record = record
    self.key = key
    self.checksum = checksum
  }
}
