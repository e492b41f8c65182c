public import Foundation

extension CKRecord {
  /// An archive of the system fields, with the change tag that a save needs.
  public var systemFields: Data { archive { encodeSystemFields(with: $0) } }

  /// An archive of the whole record.
  public var allFields: Data { archive { encode(with: $0) } }

  /// A record without fields that has these system fields; a new one if there are none or they are
  /// those of another record.
  static func known(
    _ systemFields: Data?, id: CKRecord.ID, type: CKRecord.RecordType
  ) -> CKRecord {
    if let record = systemFields.flatMap({ CKRecord(archive: $0) }), record.recordID == id,
      record.recordType == type
    {
      return record
    }
    return CKRecord(recordType: type, recordID: id)
  }

  /// Reads an archive of a record, or of its system fields; `nil` if it is damaged.
  public convenience init?(archive: Data) {
    guard let decoder = Self.decoder(archive) else { return nil }
    defer { decoder.finishDecoding() }
    self.init(coder: decoder)
  }

  private func archive(_ encode: (NSCoder) -> Void) -> Data {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    encode(encoder)
    encoder.finishEncoding()
    return encoder.encodedData
  }

  fileprivate static func decoder(_ archive: Data) -> NSKeyedUnarchiver? {
    guard let decoder = try? NSKeyedUnarchiver(forReadingFrom: archive) else { return nil }
    decoder.requiresSecureCoding = true
    return decoder
  }
}

extension CKShare {
  /// Reads an archive of a share; `nil` if it is damaged or of another record.
  static func unarchived(_ archive: Data) -> CKShare? {
    guard let record = CKRecord(archive: archive), let decoder = CKRecord.decoder(archive) else {
      return nil
    }
    defer { decoder.finishDecoding() }
    let share = CKShare(coder: decoder)
    return share.recordID == record.recordID ? share : nil
  }
}
