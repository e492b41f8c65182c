public import SyncedStore

extension CKContainer {
  /// Asks for the status of the account, before an attempt to sync.
  ///
  /// A device without an account is not an error here: a sync removes the items of the former
  /// account, and throws `notAuthenticated`.
  ///
  /// - Throws: the `CKError` for an account that can't sync.
  public func checkAccount() async throws {
    switch try await accountStatus() {
    case .available, .noAccount: return
    case .restricted: throw CKError(.managedAccountRestricted)
    case .temporarilyUnavailable: throw CKError(.accountTemporarilyUnavailable)
    case .couldNotDetermine: throw CKError(.networkUnavailable)
    @unknown default: throw CKError(.internalError)
    }
  }
}
