public import SyncedStore

extension CKSubscription.NotificationInfo {
  /// Requests pushes that the user does not see.
  public static var silent: CKSubscription.NotificationInfo {
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    return info
  }
}
