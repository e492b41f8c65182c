/// The actions of the faults endpoint.
enum FaultAction: String, CaseIterable {
  case fail
  case dropAnswers = "drop-answers"
  case delay
  case hold
  case release
  case remove
  case clear
  case dropPushes = "drop-pushes"
  case holdPushes = "hold-pushes"
  case releasePushes = "release-pushes"
  case deliverPush = "deliver-push"
  case device
  case limits
  case quota
  case person
  case eraseData = "erase-data"
  case deleteZone = "delete-zone"
  case purgeZone = "purge-zone"
  case resetEncryptedData = "reset-encrypted-data"
  case expireTokens = "expire-tokens"
  case trimTombstones = "trim-tombstones"
  case deploySchema = "deploy-schema"
  case setIndexes = "set-indexes"
  case forgetRequests = "forget-requests"
}

/// The names of the actions of the faults endpoint that add a fault or change something else.
package let faultActionNames = FaultAction.allCases.filter { $0 != .remove && $0 != .clear }
  .map(\.rawValue)
