import Foundation

/// Finds users by the older API; see CS-166.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  /// The criteria of the search.
  public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

  /// Called for each user that was found.
  public final var userIdentityDiscoveredBlock:
    ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
  /// Called once at the end; a success also if users were not found.
  public final var discoverUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end; users that were not found do not count as errors.
  public final var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that searches by `userIdentityLookupInfos`.
  public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
    self.init()
    self.userIdentityLookupInfos = userIdentityLookupInfos
  }

  override func run() async {
    await perform {
      // A user who was not found does not count as an error.
      let results = try await effectiveContainer.shareRequests
        .identities(for: userIdentityLookupInfos)
      return ItemResults(items: results.items.filter { $0.result.success != nil })
    } reporting: { results in
      try await report(results) { lookup, result in
        if let identity = result.success { self.userIdentityDiscoveredBlock?(identity, lookup) }
      }
    } concluding: { _, result, error in
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
