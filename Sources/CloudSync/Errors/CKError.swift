public import Foundation

/// The domain of every error of this library when it is seen as `NSError`.
public let CKErrorDomain = "CKErrorDomain"
/// Under this key a `partialFailure` carries the error of each item.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
/// Under this key an error carries the seconds to wait before asking again.
public let CKErrorRetryAfterKey = "CKRetryAfter"
/// Under this key a conflict carries the record as it was before both sides changed it.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// Under this key a conflict carries the record as it is on the server.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// Under this key a conflict carries the record that was to be saved.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// Under this key a `zoneNotFound` says that the user reset encrypted data.
public let CKErrorUserDidResetEncryptedDataKey = "CKUserDidResetEncryptedData"

/// Why something did not work: a code, and what goes with it in `userInfo`.
///
/// Everything this library throws is a `CKError`, so `catch let error as CKError` and
/// `catch CKError.zoneNotFound` both work. See CS-104 to CS-109.
public struct CKError: Error, CustomNSError {
  /// What kind of failure it was.
  public let code: CKError.Code

  /// What is known besides the code, by the keys of this library and of Foundation.
  ///
  /// `nonisolated(unsafe)` because `Any` cannot be checked; it never changes after the
  /// initialiser, and what this library puts in is safe to share.
  public nonisolated(unsafe) let userInfo: [String: Any]

  /// A failure of the kind `code`; tests of apps make their own this way.
  public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
    self.code = code
    self.userInfo = userInfo
  }

  /// Reads an error of this domain back; one of another domain becomes `internalError`.
  public init(_nsError error: NSError) {
    let code = error.domain == CKErrorDomain ? CKError.Code(rawValue: error.code) : nil
    self.init(code ?? .internalError, userInfo: error.userInfo)
  }

  /// `CKErrorDomain`.
  public static var errorDomain: String { CKErrorDomain }

  /// The code as a number.
  public var errorCode: Int { code.rawValue }

  /// The same as `userInfo`, with a sentence when there is none.
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: localizedDescription]) { own, _ in own }
  }

  /// The error of each item of a `partialFailure`, by the item's ID.
  public var partialErrorsByItemID: [AnyHashable: any Error]? {
    userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
  }

  /// The record as it was before both sides changed it, in a conflict.
  public var ancestorRecord: CKRecord? {
    userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
  }

  /// The record as it is on the server, in a conflict: merge into this one and save it.
  public var serverRecord: CKRecord? {
    userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
  }

  /// The record that was to be saved, in a conflict.
  public var clientRecord: CKRecord? {
    userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
  }

  /// How many seconds to wait before asking again, when the server said so.
  public var retryAfterSeconds: Double? {
    switch userInfo[CKErrorRetryAfterKey] {
    case let number as Double: number
    case let number as NSNumber: number.doubleValue
    default: nil
    }
  }
}

extension CKError: Hashable {
  /// Whether code, sentence, waiting time and records are the same.
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

  /// Feeds the code, which `==` compares first.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  private var partialErrorCodes: [AnyHashable: CKError]? {
    partialErrorsByItemID?.compactMapValues { $0 as? CKError }
  }
}
