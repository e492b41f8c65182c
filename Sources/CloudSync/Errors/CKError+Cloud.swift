package import CloudProtocol
import Foundation
import Records

extension CKError {
  /// An error of the vocabulary in the form apps read.
  ///
  /// - Parameters:
  ///   - error: What the cloud, or the way to it, said.
  ///   - clientRecord: The record that was to be saved, for a conflict.
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
    self.init(CKError.Code(error.code), userInfo: userInfo)
  }

  /// A failure this library found by itself, with its sentence.
  package init(_ code: CKError.Code, _ message: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: message])
  }

  /// The failure of an operation of which only some items failed, by the items' IDs.
  package init(partialFailure errors: [AnyHashable: CKError]) {
    self.init(
      .partialFailure,
      userInfo: [
        NSLocalizedDescriptionKey: "\(errors.count) items failed; see partialErrorsByItemID.",
        CKPartialErrorsByItemIDKey: errors as [AnyHashable: any Error],
      ])
  }
}
