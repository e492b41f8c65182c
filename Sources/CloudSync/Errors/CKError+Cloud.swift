package import CloudProtocol
import Foundation
import Records

extension CKError {
  /// Converts an error.
  ///
  /// - Parameters:
  ///   - error: The error of the server or of the transport.
  ///   - clientRecord: The record that could not be saved, for a conflict.
  package init(_ error: CloudError, clientRecord: CKRecord? = nil) {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.message]
    if let seconds = error.retryAfter {
      userInfo[CKErrorRetryAfterKey] = NSNumber(value: seconds)
    }
    if let record = error.serverRecord {
      userInfo[CKRecordChangedErrorServerRecordKey] = CKRecord.face(of: record)
      if let clientRecord {
        userInfo[CKRecordChangedErrorClientRecordKey] = clientRecord
        userInfo[CKRecordChangedErrorAncestorRecordKey] = clientRecord.ancestor
      }
    }
    if error.userDidResetEncryptedData {
      userInfo[CKErrorUserDidResetEncryptedDataKey] = NSNumber(value: true)
    }
    self.init(error.code, userInfo: userInfo)
  }

  /// Creates an error that this library detects, with its description.
  package init(_ code: CKError.Code, _ message: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: message])
  }

  /// Creates the error of an operation of which only some items failed.
  package init(partialFailure errors: [AnyHashable: CKError]) {
    self.init(
      .partialFailure,
      userInfo: [
        NSLocalizedDescriptionKey: "\(errors.count) items failed; see partialErrorsByItemID.",
        CKPartialErrorsByItemIDKey: errors as [AnyHashable: any Error],
      ])
  }
}
