public import Foundation
import Records
import Synchronization

extension CKRecord {
  /// The record type, which names the record's fields and indexes on the server.
  public var recordType: CKRecord.RecordType { state.withLock { $0.record.type } }

  /// The record's name and zone.
  public var recordID: CKRecord.ID { CKRecordID(state.withLock { $0.record.id }) }

  /// The server's version on which this record is based; `nil` if it was never saved.
  public var recordChangeTag: String? { state.withLock { $0.record.changeTag?.rawValue } }

  /// The ID of the user who created the record.
  public var creatorUserRecordID: CKRecord.ID? {
    CKRecord.userRecordID(state.withLock { $0.record.created })
  }

  /// The time of the first save.
  public var creationDate: Date? { state.withLock { $0.record.created.map { Date($0.time) } } }

  /// The ID of the user who last modified the record.
  public var lastModifiedUserRecordID: CKRecord.ID? {
    CKRecord.userRecordID(state.withLock { $0.record.modified })
  }

  /// The time of the last save.
  public var modificationDate: Date? {
    state.withLock { $0.record.modified.map { Date($0.time) } }
  }

  /// The share the record is in.
  public var share: CKRecord.Reference? {
    CKRecord.plainReference(state.withLock { $0.record.share })
  }

  /// The parent of the record in a share hierarchy; its action must be `.none`.
  public var parent: CKRecord.Reference? {
    get { CKRecord.plainReference(state.withLock { $0.record.parent }) }
    set {
      precondition(
        newValue.map { $0.action == .none } ?? true,
        "CKRecord: a parent reference must have the action .none; use setParent(_:).")
      state.withLock { state in
        state.record.parent = newValue?.value.target
        state.isParentChanged = true
      }
    }
  }

  /// Sets or removes the parent.
  public func setParent(_ parentRecord: CKRecord?) { setParent(parentRecord?.recordID) }

  /// Sets or removes the parent by its ID.
  public func setParent(_ parentRecordID: CKRecord.ID?) {
    parent = parentRecordID.map { CKReference(recordID: $0, action: .none) }
  }

  private static func userRecordID(_ stamp: RecordStamp?) -> CKRecord.ID? {
    stamp.map { CKRecordID(RecordID(name: $0.user.rawValue, zone: .default)) }
  }

  private static func plainReference(_ target: RecordID?) -> CKRecord.Reference? {
    target.map { CKReference(Records.Reference(target: $0, action: .none)) }
  }
}
