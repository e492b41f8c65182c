public import SyncedStore

/// Why a sync failed, in words for people.
public struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public var code: CKError.Code

  /// What to tell; `nil` for what is settled without the person.
  public var message: String?

  /// Whether it is tried again without anybody's doing.
  public var isRetrying: Bool

  /// A failure of the kind `code`.
  ///
  /// - Parameter detail: the error's own sentence, for kinds without a fixed message.
  public init(_ code: CKError.Code, isRetrying: Bool, detail: String? = nil) {
    self.code = code
    self.isRetrying = isRetrying
    message = Self.message(code, isRetrying: isRetrying, detail: detail)
  }

  /// The failure that the error of a pass means.
  public init(_ error: any Error) {
    switch error {
    case let error as SyncFailure: self = error
    case let error as CKError:
      let error = error.leading
      self.init(error.code, isRetrying: false, detail: error.localizedDescription)
    default: self.init(.internalError, isRetrying: false, detail: "\(error)")
    }
  }

  /// The message, or the code's name.
  public var description: String { message ?? "\(code)" }

  /// Whether failures of this kind mean that there is no cloud at all for now.
  public static func meansOffline(_ code: CKError.Code) -> Bool {
    [
      .networkUnavailable, .networkFailure, .notAuthenticated, .accountTemporarilyUnavailable,
      .managedAccountRestricted,
    ].contains(code)
  }

  /// What is settled without the person.
  private static let silent: [CKError.Code] = [
    .serverRecordChanged, .changeTokenExpired, .operationCancelled,
  ]

  private static let messages: [CKError.Code: String] = [
    .networkUnavailable: "No internet. Will sync when online.",
    .networkFailure: "No internet. Will sync when online.",
    .quotaExceeded: "iCloud storage full. Free up space in Settings → iCloud.",
    .notAuthenticated: "Not signed in to iCloud. Sign in to sync.",
    .accountTemporarilyUnavailable: "Your iCloud account isn't ready. Will sync when it is.",
    .managedAccountRestricted: "This iCloud account is not allowed to sync.",
  ]

  /// The messages of failures that may be retried.
  private static let passing: [CKError.Code: String] = [
    .zoneBusy: "iCloud temporarily unavailable.",
    .serviceUnavailable: "iCloud temporarily unavailable.",
    .requestRateLimited: "iCloud temporarily unavailable.",
    .serverResponseLost: "iCloud temporarily unavailable.",
    .partialFailure: "Some data couldn't sync.",
    .batchRequestFailed: "Some data couldn't sync.",
    .limitExceeded: "Some data couldn't sync.",
  ]

  /// A promise to retry is left out when no retry follows.
  private static func message(
    _ code: CKError.Code, isRetrying: Bool, detail: String?
  ) -> String? {
    if silent.contains(code) { return nil }
    if let message = messages[code] { return message }
    let message = passing[code] ?? "Sync failed: \(detail ?? "\(code)")"
    return message + (isRetrying ? " Retrying..." : "")
  }
}

extension SyncedStoreError {
  /// The error of a call for a sync before the store was started, or after it was stopped.
  public static let isStopped = SyncedStoreError(
    .notStarted, "sync is not running; start the store first")
}

extension SyncedStore {
  /// The error of the first change that the server refused, in place of the error that some are
  /// left; any other error as it is.
  public func refusal(_ error: any Error) -> any Error {
    guard error is SyncedStoreError else { return error }
    return status.activity.problems.compactMap(\.code).first.map { CKError($0) } ?? error
  }
}

extension CKContainer {
  /// The record name of the signed-in user; `nil` when no account is signed in.
  ///
  /// The code `notAuthenticated` alone does not say so: an account that is restricted, or whose
  /// state is not known, has it as well, and its items stay.
  ///
  /// - Throws: the `CKError` for an account that can't be used, or of the request.
  public func signedInUser() async throws -> String? {
    do {
      return try await userRecordID().recordName
    } catch let error as CKError where error.code == .notAuthenticated {
      switch try await accountStatus() {
      case .noAccount: return nil
      case .restricted: throw CKError(.managedAccountRestricted)
      // The server was reached, so this is no failure of the network.
      default: throw CKError(.accountTemporarilyUnavailable)
      }
    }
  }

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
