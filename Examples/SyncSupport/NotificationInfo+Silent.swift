public import SyncedStore

extension CKSubscription.NotificationInfo {
  /// Has pushes sent that users do not see.
  public static var silent: CKSubscription.NotificationInfo {
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    return info
  }
}
