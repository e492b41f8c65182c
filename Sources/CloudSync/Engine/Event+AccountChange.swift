extension CKSyncEngine.Event {
  /// Another account, or none, is signed in; pending changes were dropped.
  public struct AccountChange: Sendable {
    /// What happened to the account.
    public enum ChangeType: Sendable, Equatable {
      /// An account is signed in where there was none.
      case signIn(currentUser: CKRecord.ID)
      /// The account was signed out.
      case signOut(previousUser: CKRecord.ID)
      /// Another account is signed in.
      case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
    }

    /// What happened to the account.
    public let changeType: CKSyncEngine.Event.AccountChange.ChangeType

    /// Builds the payload; in CloudKit only the engine can.
    public init(changeType: CKSyncEngine.Event.AccountChange.ChangeType) {
      self.changeType = changeType
    }
  }
}

extension CKSyncEngine.Event.AccountChange: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "AccountChange(changeType: \(changeType))"
  }
}
