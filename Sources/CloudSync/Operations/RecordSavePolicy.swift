package import CloudProtocol

extension CKModifyRecordsOperation {
  /// The treatment of a record that was changed on the server (CS-112 to CS-117).
  public enum RecordSavePolicy: Int, Sendable {
    /// Fails with `serverRecordChanged`.
    case ifServerRecordUnchanged = 0
    /// Overwrites the fields that were changed here; others stay.
    case changedKeys = 1
    /// Overwrites all fields of the record; fields that are only on the server stay.
    case allKeys = 2

    /// The policy as a value.
    package var value: SavePolicy {
      switch self {
      case .ifServerRecordUnchanged: .ifServerRecordUnchanged
      case .changedKeys: .changedKeys
      case .allKeys: .allKeys
      }
    }
  }
}
