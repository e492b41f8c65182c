public import Foundation

/// The domain of the errors of this library as `NSError`.
public let CKErrorDomain = "CKErrorDomain"
/// The key of the errors of single items in a `partialFailure`.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
/// The key of the number of seconds to wait before a retry.
public let CKErrorRetryAfterKey = "CKRetryAfter"
/// The key of the common ancestor of both records of a conflict.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// The key of the server's record in a conflict.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// The key of the record that could not be saved, in a conflict.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// The key that marks a `zoneNotFound` caused by a reset of encrypted data.
public let CKErrorUserDidResetEncryptedDataKey = "CKUserDidResetEncryptedData"

/// An error: a code, and further information in `userInfo`.
///
/// Every error that this library throws is a `CKError`, so `catch let error as CKError` and
/// `catch CKError.zoneNotFound` both work. See CS-104 to CS-109.
public struct CKError: Error, CustomNSError, Hashable {
  /// The kind of failure, which determines how an app handles it.
  public let code: CKError.Code

  /// Further information, under keys of this library and of Foundation.
  ///
  /// `nonisolated(unsafe)` because `Any` cannot be checked; it never changes after the
  /// initialiser, and what this library puts in is safe to share.
  public nonisolated(unsafe) let userInfo: [String: Any]

  /// Creates an error with `code`, for example in an app's tests.
  public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
    self.code = code
    self.userInfo = userInfo
  }

  /// Converts an error of this domain; one of another domain becomes `internalError`.
  public init(_nsError error: NSError) {
    let code = error.domain == CKErrorDomain ? CKError.Code(rawValue: error.code) : nil
    self.init(code ?? .internalError, userInfo: error.userInfo)
  }

  /// `CKErrorDomain`.
  public static var errorDomain: String { CKErrorDomain }

  /// The code as a number.
  public var errorCode: Int { code.rawValue }

  /// The same as `userInfo`, with a description if it has none.
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: localizedDescription]) { own, _ in own }
  }

  /// The error of each item of a `partialFailure`, by the item's ID.
  public var partialErrorsByItemID: [AnyHashable: any Error]? {
    userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
  }

  /// The common ancestor of both records of a conflict.
  public var ancestorRecord: CKRecord? {
    userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
  }

  /// The server's record of a conflict: merge the changes into this one and save it.
  public var serverRecord: CKRecord? {
    userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
  }

  /// The record that could not be saved, in a conflict.
  public var clientRecord: CKRecord? {
    userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
  }

  /// The number of seconds to wait before a retry, if the server set one.
  public var retryAfterSeconds: Double? {
    switch userInfo[CKErrorRetryAfterKey] {
    case let number as Double: number
    case let number as NSNumber: number.doubleValue
    default: nil
    }
  }

  /// Whether code, description, delay and records are equal.
  ///
  /// Not the whole of `userInfo`: hashing an `NSError` inside it is fatal on Linux.
  public static func == (first: CKError, second: CKError) -> Bool {
    first.code == second.code
      && first.localizedDescription == second.localizedDescription
      && first.retryAfterSeconds == second.retryAfterSeconds
      && first.serverRecord?.value == second.serverRecord?.value
      && first.clientRecord?.value == second.clientRecord?.value
      && first.ancestorRecord?.value == second.ancestorRecord?.value
      && first.partialErrorCodes == second.partialErrorCodes
  }

  /// Hashes the code, which `==` compares first.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  private var partialErrorCodes: [AnyHashable: CKError]? {
    partialErrorsByItemID?.compactMapValues { $0 as? CKError }
  }
}
