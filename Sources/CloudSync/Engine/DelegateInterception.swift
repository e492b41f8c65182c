/// Stands between the engines of a container and their delegates, so that a test sees what passes
/// also where an app makes its engine itself.
package protocol DelegateInterception: AnyObject, Sendable {
  /// What a new engine is to talk to instead of `delegate`; engines keep it weakly, as they do a
  /// delegate.
  func interpose(before delegate: any CKSyncEngineDelegate) -> any CKSyncEngineDelegate
}

extension CKSyncEngine.Configuration {
  /// The delegate, or what the database's container puts before it.
  var interceptedDelegate: any CKSyncEngineDelegate {
    database.connection.interception?.interpose(before: delegate) ?? delegate
  }
}
