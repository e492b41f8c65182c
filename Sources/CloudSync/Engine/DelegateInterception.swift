/// Intercepts the callbacks between the engines of a container and their delegates, so that a test
/// can record them even if the app creates its engines.
package protocol DelegateInterception: AnyObject, Sendable {
  /// The object that a new engine calls instead of `delegate`, while the app retains that one.
  ///
  /// The engine retains the object, which must not retain `delegate`.
  func interpose(before delegate: any CKSyncEngineDelegate) -> any CKSyncEngineDelegate
}
