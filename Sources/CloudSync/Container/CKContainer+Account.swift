import CloudProtocol

extension CKContainer {
  /// Whether an account is signed in and can be used.
  ///
  /// Troubles on the way to the server end in `couldNotDetermine`.
  /// - Throws: `badContainer` when the container has no transport.
  public func accountStatus() async throws -> CKAccountStatus {
    do throws(CKError) {
      _ = try await connection.currentUser()
      return .available
    } catch {
      switch error.code {
      case .notAuthenticated: return .noAccount
      case .managedAccountRestricted: return .restricted
      case .accountTemporarilyUnavailable: return .temporarilyUnavailable
      case .badContainer: throw error
      default: return .couldNotDetermine
      }
    }
  }

  /// The record ID of the signed-in user.
  /// - Throws: `notAuthenticated` when no account is signed in.
  public func userRecordID() async throws -> CKRecord.ID {
    try await connection.currentUser()
  }

  /// Calls `completionHandler` with the result of `accountStatus()`.
  @preconcurrency public func accountStatus(
    completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
  ) {
    answer(
      { (result: Result<CKAccountStatus, any Error>) in
        switch result {
        case .success(let status): completionHandler(status, nil)
        case .failure(let error): completionHandler(.couldNotDetermine, error)
        }
      }, { try await self.accountStatus() })
  }

  /// Calls `completionHandler` with the result of `userRecordID()`.
  @preconcurrency public func fetchUserRecordID(
    completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
  ) {
    answer(completionHandler) { try await self.userRecordID() }
  }
}
