import Foundation

/// The value of `CKRecord.encryptedValues`: a view of the encrypted fields of a record.
final class CKEncryptedValues: NSObject, CKRecordKeyValueSetting, Sendable {
  private let record: CKRecord

  init(record: CKRecord) { self.record = record }

  func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    record.object(forKey: key, encrypted: true)
  }

  func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) {
    record.setObject(object, forKey: key, encrypted: true)
  }

  subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    get { object(forKey: key) }
    set { setObject(newValue, forKey: key) }
  }

  func allKeys() -> [CKRecord.FieldKey] { record.keys(encrypted: true) }

  func changedKeys() -> [CKRecord.FieldKey] { record.changedEncryptedKeys() }
}
