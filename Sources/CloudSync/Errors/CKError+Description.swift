import Foundation

extension CKError: CustomStringConvertible {
  /// The code's name and number, the description, and the codes of the items of a
  /// `partialFailure`; nothing else from `userInfo`.
  public var description: String {
    "<CKError: \(code) (\(code.rawValue)); \(localizedDescription)\(itemCodes)>"
  }

  /// The number of items with each code, by the codes' names.
  private var itemCodes: String {
    let codes = (partialErrorsByItemID ?? [:]).values.compactMap { ($0 as? CKError)?.code }
    let counts = Dictionary(codes.map { ("\($0)", 1) }, uniquingKeysWith: +)
    if counts.isEmpty { return "" }
    let isSentence = localizedDescription.last.map { ".!?".contains($0) } ?? true
    let list = counts.map { "\($0.key) (\($0.value))" }.sorted().joined(separator: ", ")
    return (isSentence ? " Codes: " : ". Codes: ") + list
  }

  /// The description for people: what happened, to which item, and what to do.
  ///
  /// It is the text under `NSLocalizedDescriptionKey`, or one made from the code.
  public var localizedDescription: String {
    userInfo[NSLocalizedDescriptionKey] as? String
      ?? "\(code.sentence) (CKErrorDomain error \(code.rawValue).)"
  }
}

extension CKError.Code {
  /// The description of an error that has none of its own.
  fileprivate var sentence: String {
    switch self {
    case .internalError: "The cloud service had an internal error."
    case .partialFailure: "Some of the items failed; see partialErrorsByItemID."
    case .networkUnavailable: "There is no network connection."
    case .networkFailure: "The network failed during the request."
    case .badContainer: "The container is unknown, or this app may not use it."
    case .serviceUnavailable: "The cloud service is not available now; try again later."
    case .requestRateLimited: "The app sends too many requests; try again later."
    case .missingEntitlement: "This app lacks an entitlement to use the cloud."
    case .notAuthenticated: "No account is signed in."
    case .permissionFailure: "The account has no permission for this."
    case .unknownItem: "The item does not exist in the cloud."
    case .invalidArguments: "The request has invalid arguments."
    case .resultsTruncated: "Only a part of the results was returned."
    case .serverRecordChanged: "The record was changed in the cloud meanwhile."
    case .serverRejectedRequest: "The cloud rejected the request."
    case .assetFileNotFound: "The file of an asset is missing."
    case .assetFileModified: "The file of an asset changed while it was uploaded."
    case .incompatibleVersion: "This version of the app is too old for the cloud."
    case .constraintViolation: "A field that must be unique is not."
    case .operationCancelled: "The operation was cancelled."
    case .changeTokenExpired: "The change token is too old; fetch everything again."
    case .batchRequestFailed: "Another change of the same batch failed, so this one was not made."
    case .zoneBusy: "The record zone is busy; try again later."
    case .badDatabase: "The database does not support this."
    case .quotaExceeded: "The cloud storage is full."
    case .zoneNotFound: "The record zone does not exist."
    case .limitExceeded: "The request is too large; send it in parts."
    case .userDeletedZone: "The user deleted the record zone in the settings."
    case .tooManyParticipants: "The share has too many participants."
    case .alreadyShared: "The record is in another share already."
    case .referenceViolation: "The target of a reference does not exist."
    case .managedAccountRestricted: "The account is restricted by its administrator."
    case .participantMayNeedVerification: "The user must open the share's address first."
    case .serverResponseLost: "The response was lost; the change may or may not have been made."
    case .assetNotAvailable: "The file of an asset cannot be read now."
    case .accountTemporarilyUnavailable: "The account is not ready yet."
    case .participantAlreadyInvited: "The user is already invited and must accept first."
    }
  }
}
