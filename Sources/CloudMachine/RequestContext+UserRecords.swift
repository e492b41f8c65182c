import CloudProtocol
import Records

/// The record of the system's type Users that every account has, in the default zone of the public
/// database and of its own private one.
///
/// It always exists, initially without fields and without a row; the first save creates the row.
/// Only its account can save it. Others can read it in the public database. It cannot be created or
/// deleted, and its type cannot be queried. Docs/Decisions/0016.
extension RequestContext {
  /// The type of these records.
  static let userRecordType = "Users"

  /// Whether `id`, in the spelling of rows, names a user record that the requester can see.
  func namesUserRecord(_ id: RecordID) throws -> Bool {
    guard id.zone == .default, id.name.utf8.first == UInt8(ascii: "_") else { return false }
    switch database.scope {
    case .private: return id.name == account?.user.rawValue
    case .public: return try storage.account(UserID(id.name)) != nil
    case .shared: return false
    }
  }

  /// The record `id` if it is a user record that was never saved.
  func untouchedUserRecord(_ id: RecordID) throws -> Record? {
    guard try namesUserRecord(id) else { return nil }
    // No save assigns this tag: sequence numbers start at 1.
    return Record(id: id, type: RequestContext.userRecordType, changeTag: ChangeTag("0"))
  }
}

extension RecordBatch {
  /// The error if a record with this name and type cannot be saved; `nil` when it can.
  func faultOfName(_ save: RecordSave, _ names: NameRules) throws -> CloudError? {
    if try context.namesUserRecord(save.id) {
      if save.id.name == context.account?.user.rawValue { return nil }
      return CloudError(.permissionFailure, "an account can save only its own user record")
    }
    if save.type == RequestContext.userRecordType {
      return CloudError(
        .permissionFailure,
        "records of the type Users are created by the system; fetch the one of the account")
    }
    return names.faultOfRecordName(save.id.name)
  }

  /// The error if `id` is a user record, which cannot be deleted.
  func faultOfUserRecord(_ id: RecordID) throws -> CloudError? {
    guard try context.namesUserRecord(id) else { return nil }
    return CloudError(.permissionFailure, "the record of an account can't be deleted")
  }
}
