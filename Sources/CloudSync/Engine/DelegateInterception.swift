/// Intercepts the callbacks between the engines of a container and their delegates, so that a test
/// can record them even if the app creates its engines.
package protocol DelegateInterception: AnyObject, Sendable {
  /// The object that a new engine calls instead of `delegate`; engines hold it weakly, like a
  /// delegate.
  func interpose(before delegate: any CKSyncEngineDelegate) -> any CKSyncEngineDelegate
}

extension CKSyncEngine.Configuration {
  /// The delegate, or the object that intercepts its callbacks.
  var interceptedDelegate: any CKSyncEngineDelegate {
    database.connection.interception?.interpose(before: delegate) ?? delegate
  }
}
