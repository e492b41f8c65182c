extension CKSyncEngine.Event {
  /// Another account, or none, is signed in; pending changes were dropped.
  public struct AccountChange: Sendable, CustomStringConvertible {
    /// The kind of change.
    public enum ChangeType: Sendable, Equatable {
      /// An account signed in; there was none before.
      case signIn(currentUser: CKRecord.ID)
      /// The account signed out.
      case signOut(previousUser: CKRecord.ID)
      /// Another account signed in.
      case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
    }

    /// The kind of change.
    public let changeType: CKSyncEngine.Event.AccountChange.ChangeType

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(changeType: CKSyncEngine.Event.AccountChange.ChangeType) {
      self.changeType = changeType
    }

    /// A description with the kind of change.
    public var description: String {
      "AccountChange(changeType: \(changeType))"
    }
  }
}
