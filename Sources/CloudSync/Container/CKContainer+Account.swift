import CloudProtocol

extension CKContainer {
  /// Returns the status of the account.
  ///
  /// A network failure results in `couldNotDetermine`.
  /// - Throws: `badContainer` when the container has no transport.
  public func accountStatus() async throws -> CKAccountStatus {
    let answer = try await connection.uncancelled { [connection] in
      try await connection.answer(to: .fetchCurrentUser, in: .private)
    }
    switch answer {
    case .success(.currentUser): return .available
    case .success: return .couldNotDetermine
    case .failure(let error):
      switch (error.code, error.accountObstacle) {
      case (.notAuthenticated, nil): return .noAccount
      case (.notAuthenticated, .restricted), (.managedAccountRestricted, _): return .restricted
      case (.accountTemporarilyUnavailable, _): return .temporarilyUnavailable
      case (.badContainer, _): throw CKError(error)
      default: return .couldNotDetermine
      }
    }
  }

  /// The record ID of the signed-in user.
  /// - Throws: `notAuthenticated` when no account is signed in, or the one that is can't be used,
  ///   and `accountTemporarilyUnavailable` when it is not ready.
  public func userRecordID() async throws -> CKRecord.ID {
    try await connection.uncancelled { [connection] in try await connection.currentUser() }
  }

  /// Calls `completionHandler` with the result of `accountStatus()`.
  @preconcurrency public func accountStatus(
    completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, onFailure: .couldNotDetermine) {
      try await self.accountStatus()
    }
  }

  /// Calls `completionHandler` with the result of `userRecordID()`.
  @preconcurrency public func fetchUserRecordID(
    completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) { try await self.userRecordID() }
  }
}
