public import Foundation
package import Records
import Synchronization

/// A record: an ID, a type, fields, and system fields that the server maintains.
///
/// Apps change the fields of the object, archive it, and compare it by identity.
/// It holds a value and the names of the changed fields. It can be used from
/// any thread. See CS-7 to CS-29.
///
/// `@unchecked` because a class that others can inherit from cannot be checked; the one stored
/// property is a `Mutex`, and subclasses add no mutable ones.
public class CKRecord: NSObject, NSSecureCoding, NSCopying, CKRecordKeyValueSetting, Sequence,
  @unchecked Sendable
{
  /// The type of a record, such as `ScratchTab`.
  public typealias RecordType = String
  /// The name of a field.
  public typealias FieldKey = String
  /// The ID of a record.
  public typealias ID = CKRecordID
  /// A reference to a record.
  public typealias Reference = CKReference

  /// The contents of a record object.
  package struct State: Sendable {
    /// The current record on this device.
    package var record: Record
    /// The fields changed since the record was fetched or saved.
    package var changedKeys: Set<String> = []
    /// The changed fields with a number that is too large to be saved.
    package var oversized: [FieldKey: OversizedValue] = [:]
    /// Whether the parent was changed since then.
    package var isParentChanged = false
    /// The fields at that time, if the record is from the server.
    package var base: Fields?
  }

  /// The state, guarded by a lock so that the object can be used from any thread.
  let state: Mutex<State>

  /// The object for a record from the server: a `CKShare` for a share.
  package static func face(of record: Record) -> CKRecord {
    record.sharing == nil ? CKRecord(record) : CKShare(record)
  }

  /// The share details that a save sends; `nil` for other records.
  var sharingToSave: ShareDetails? { nil }

  /// Creates a record object with a state.
  package init(state: State) { self.state = Mutex(state) }

  /// Creates an object for a record from the server, without changes.
  package convenience init(_ record: Record) {
    self.init(state: State(record: record, base: record.fields))
  }

  /// Creates a record, which exists only on this device until it is saved.
  public convenience init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
    precondition(!recordType.isEmpty, "CKRecord: a record type cannot be empty; name the type.")
    self.init(state: State(record: Record(id: recordID.value, type: recordType)))
  }

  /// Creates a record with a new name in `zoneID`.
  @available(*, deprecated, message: "Use init(recordType:recordID:) with CKRecord.ID(zoneID:).")
  public convenience init(recordType: CKRecord.RecordType, zoneID: CKRecordZone.ID) {
    self.init(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID))
  }

  /// Decodes an archive of `encode(with:)` or `encodeSystemFields(with:)`; `nil` if it is damaged.
  public required init?(coder: NSCoder) {
    guard let state = CKRecord.decodeState(with: coder) else { return nil }
    self.state = Mutex(state)
  }

  /// The record as a value, with the changes that were not saved yet.
  package var value: Record { state.withLock { $0.record } }

  /// The value of the plain field `key`; `nil` when there is none or it is encrypted.
  public func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    object(forKey: key, encrypted: false)
  }

  /// Sets the plain field `key`, or removes it with `nil`.
  public func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) {
    setObject(object, forKey: key, encrypted: false)
  }

  /// The value of the plain field `key`; assigning `nil` removes it.
  public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    get { object(forKey: key) }
    set { setObject(newValue, forKey: key) }
  }

  /// The names of the plain fields, ascending.
  public func allKeys() -> [CKRecord.FieldKey] { keys(encrypted: false) }

  /// The names of all fields changed since the record was fetched or saved, ascending; a field
  /// that was set and removed again is among them.
  public func changedKeys() -> [CKRecord.FieldKey] {
    state.withLock { $0.changedKeys.sorted() }
  }

  /// Creates a record object with the same contents and the same unsaved changes.
  public func copy(with zone: NSZone? = nil) -> Any {
    CKRecord(state: state.withLock { $0 })
  }

  /// Always true.
  public class var supportsSecureCoding: Bool { true }

  /// Archives the whole record, unsaved changes included.
  public func encode(with coder: NSCoder) { encodeState(with: coder) }

  /// Archives the system fields of the record, without its fields.
  ///
  /// That is the ID, type, tag, dates, users, parent and share: all it takes to save the record
  /// again later. `init(coder:)` reads it.
  public func encodeSystemFields(with coder: NSCoder) { encodeSystemState(with: coder) }

  /// The type, ID and tag, and the names of the fields; no values.
  public override var description: String {
    state.withLock { state in
      let record = state.record
      let tag = record.changeTag.map(\.rawValue) ?? "none"
      let keys = record.fields.keys.joined(separator: ", ")
      return "<CKRecord: recordType=\(record.type), recordID=\(CKRecordID(record.id)), "
        + "recordChangeTag=\(tag), keys=[\(keys)]>"
    }
  }
}
