import Foundation

extension CKError: CustomStringConvertible {
  /// The code's name and number and the description; nothing else from `userInfo`.
  public var description: String {
    "<CKError: \(code) (\(code.rawValue)); \(localizedDescription)>"
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
    case .internalError: "The cloud service failed inside."
    case .partialFailure: "Some of the items failed; see partialErrorsByItemID."
    case .networkUnavailable: "There is no network connection."
    case .networkFailure: "The network failed while the cloud was asked."
    case .badContainer: "The container is unknown, or this app may not use it."
    case .serviceUnavailable: "The cloud service is not available now; try again later."
    case .requestRateLimited: "This app asks the cloud too often; try again later."
    case .missingEntitlement: "This app lacks an entitlement to use the cloud."
    case .notAuthenticated: "No account is signed in."
    case .permissionFailure: "This account may not do that."
    case .unknownItem: "The item does not exist in the cloud."
    case .invalidArguments: "The request makes no sense to the cloud."
    case .resultsTruncated: "Only a part of the results was returned."
    case .serverRecordChanged: "The record was changed in the cloud meanwhile."
    case .serverRejectedRequest: "The cloud rejected the request."
    case .assetFileNotFound: "The file of an asset is missing."
    case .assetFileModified: "The file of an asset changed while it was uploaded."
    case .incompatibleVersion: "This version of the app is too old for the cloud."
    case .constraintViolation: "A field that must be unique is not."
    case .operationCancelled: "The operation was cancelled."
    case .changeTokenExpired: "The change token is too old; fetch everything again."
    case .batchRequestFailed: "Another change of the same batch failed, so nothing was done."
    case .zoneBusy: "The record zone is busy; try again later."
    case .badDatabase: "This database does not do that."
    case .quotaExceeded: "There is no cloud storage left."
    case .zoneNotFound: "The record zone does not exist."
    case .limitExceeded: "The request is too large; send it in parts."
    case .userDeletedZone: "The user deleted the record zone in the settings."
    case .tooManyParticipants: "The share has too many participants."
    case .alreadyShared: "The record is in another share already."
    case .referenceViolation: "A record that is referred to is missing."
    case .managedAccountRestricted: "The account is restricted by its administrator."
    case .participantMayNeedVerification: "The user must open the share's address first."
    case .serverResponseLost: "The answer was lost; the change may or may not be made."
    case .assetNotAvailable: "The file of an asset cannot be read now."
    case .accountTemporarilyUnavailable: "The account is not ready yet."
    case .participantAlreadyInvited: "The user is invited already and must accept first."
    }
  }
}
