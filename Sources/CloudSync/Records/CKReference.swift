public import Foundation
package import Records

/// A field's pointer to another record of the same zone.
///
/// Known to apps as `CKRecord.Reference`. Two references with the same target and action are
/// equal. See CS-22 and CS-128 to CS-132.
public final class CKReference: NSObject, NSSecureCoding, NSCopying, Sendable,
  CKRecordValueProtocol
{
  /// What happens to the holder when the target is deleted.
  public typealias Action = CKRecord.ReferenceAction

  /// The reference as the vocabulary spells it.
  package let value: Reference

  /// Wraps a reference of the vocabulary.
  package init(_ value: Reference) { self.value = value }

  /// Points at the record `recordID`.
  public convenience init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
    self.init(Reference(target: recordID.value, action: action.value))
  }

  /// Points at `record`.
  public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
    self.init(recordID: record.recordID, action: action)
  }

  /// The record pointed at.
  public var recordID: CKRecord.ID { CKRecordID(value.target) }

  /// What the target's deletion does to the holder.
  public var action: CKRecord.ReferenceAction { CKRecord.ReferenceAction(value.action) }

  /// Whether `object` is a reference to the same record with the same action.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKReference)?.value == value
  }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The target and the action.
  public override var description: String {
    "<CKReference: recordID=\(recordID), action=\(value.action)>"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }

  /// Itself: a reference never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the target and the action.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncReference", with: coder) { $0.write(.reference(value)) }
  }

  /// Reads the reference back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncReference", with: coder) {
      (reader) throws(ByteFormatError) in try reader.fieldValue()
    }
    if case .reference(let value) = value {
      self.init(value)
    } else if let value = Reference(appleArchive: coder) {
      self.init(value)
    } else {
      return nil
    }
  }
}

extension CKReference: FieldValueConvertible {
  /// The reference.
  package var fieldValue: FieldValue? { .reference(value) }
}

extension CKRecord {
  /// What happens to a reference's holder when its target is deleted.
  public enum ReferenceAction: UInt, Sendable {
    /// Nothing: the reference dangles.
    case none = 0
    /// The holder is deleted too.
    case deleteSelf = 1

    /// The action of the vocabulary.
    package init(_ value: Records.Reference.Action) {
      switch value {
      case .none: self = .none
      case .deleteSelf: self = .deleteSelf
      // Apps have no word for it; what they don't change stays as it is on the server.
      case .validate: self = .none
      }
    }

    /// The action as the vocabulary spells it.
    package var value: Records.Reference.Action {
      switch self {
      case .none: .none
      case .deleteSelf: .deleteSelf
      }
    }
  }
}
