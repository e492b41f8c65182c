import Foundation

/// Finds people; the older way, kept for apps that still use it.
///
/// See CS-166.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  /// The people to find.
  public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

  /// Called for each person that was found.
  public final var userIdentityDiscoveredBlock:
    ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
  /// Called once at the end; a success also when people were not found.
  public final var discoverUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end; users that were not found do not count as errors.
  public final var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Finds the people that `userIdentityLookupInfos` tell how to look for.
  public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
    self.init()
    self.userIdentityLookupInfos = userIdentityLookupInfos
  }

  override func run() async {
    var failure: CKError?
    do throws(CKError) {
      try checkCancellation()
      let results = try await effectiveContainer.shareRequests
        .identities(for: userIdentityLookupInfos)
      try await report(results) { lookup, result in
        if let identity = result.success { self.userIdentityDiscoveredBlock?(identity, lookup) }
      }
    } catch {
      failure = error
    }
    await conclude(failure) { result, error in
      self.discoverUserIdentitiesResultBlock?(result)
      self.discoverUserIdentitiesCompletionBlock?(error)
    }
  }
}

/// Finds the users in the address book: always none, since there is no address book.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  /// Never called.
  public final var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?
  /// Called once at the end.
  public final var discoverAllUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end.
  public final var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation, which finds no users.
  public override init() { super.init() }

  override func run() async {
    await conclude(nil) { result, error in
      self.discoverAllUserIdentitiesResultBlock?(result)
      self.discoverAllUserIdentitiesCompletionBlock?(error)
    }
  }
}
