public import Foundation
package import Records

/// A reference from a field to another record of the same zone.
///
/// Known to apps as `CKRecord.Reference`. Two references with the same target and action are
/// equal. See CS-22 and CS-128 to CS-132.
public final class CKReference: NSObject, NSSecureCoding, NSCopying, Sendable,
  CKRecordValueProtocol, FieldValueConvertible
{
  /// The field value of the reference.
  package var fieldValue: FieldValue? { .reference(value) }

  /// The effect of the target's deletion on the referring record.
  public typealias Action = CKRecord.ReferenceAction

  /// The reference as a value.
  package let value: Reference

  /// Wraps a reference.
  package init(_ value: Reference) { self.value = value }

  /// Creates a reference to the record `recordID`.
  public convenience init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
    self.init(Reference(target: recordID.value, action: action.value))
  }

  /// Creates a reference to `record`.
  public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
    self.init(recordID: record.recordID, action: action)
  }

  /// The ID of the record that is referred to, which need not exist.
  public var recordID: CKRecord.ID { CKRecordID(value.target) }

  /// The effect of the target's deletion on the referring record.
  public var action: CKRecord.ReferenceAction { CKRecord.ReferenceAction(value.action) }

  /// Whether `object` is a reference to the same record with the same action.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKReference)?.value == value
  }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The target and the action.
  public override var description: String {
    "<CKReference: recordID=\(recordID), action=\(value.action)>"
  }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the target and the action.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncReference", with: coder) { $0.write(.reference(value)) }
  }

  /// Decodes a reference; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncReference", with: coder) { try $0.fieldValue() }
    if case .reference(let value) = value {
      self.init(value)
    } else if let value = Reference(appleArchive: coder) {
      self.init(value)
    } else {
      return nil
    }
  }
}

extension CKRecord {
  /// The effect of a target's deletion on the referring record.
  public enum ReferenceAction: UInt, Sendable {
    /// None: the reference stays, without a target.
    case none = 0
    /// The referring record is deleted too.
    case deleteSelf = 1

    /// Converts an action.
    package init(_ value: Records.Reference.Action) {
      switch value {
      case .none: self = .none
      case .deleteSelf: self = .deleteSelf
      // CloudKit's API has no such action; an unchanged reference keeps it on the server.
      case .validate: self = .none
      }
    }

    /// The action as a value.
    package var value: Records.Reference.Action {
      switch self {
      case .none: .none
      case .deleteSelf: .deleteSelf
      }
    }
  }
}
