import CloudKit

/// A container on a device and in an account of its own; the code under test only sees CloudKit.
func container(
  _ device: String, _ identifier: String, account: String = "default"
) -> CKContainer {
  let variables = ["CLOUDSYNC_DEVICE": "\(identifier) \(device)", "CLOUDSYNC_ACCOUNT": account]
  return CloudSyncEnvironment.$current.withValue(.init(variables: variables)) {
    CKContainer(identifier: identifier)
  }
}

extension CKRecord.FieldKey {
  static let title = "title"
  static let count = "count"
}

extension CKRecord.ID {
  convenience init(_ name: String, in zone: CKRecordZone) {
    self.init(recordName: name, zoneID: zone.zoneID)
  }
}

extension CKRecord {
  var title: String {
    get { self[.title] as? String ?? "" }
    set { self[.title] = newValue }
  }
}

extension CKError {
  var isTransient: Bool {
    switch code {
    case .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy:
      true
    default: false
    }
  }
}
