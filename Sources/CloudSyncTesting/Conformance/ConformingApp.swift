/// One launch of an app under test by `DelegateConformance`: the actions and the view of its user.
///
/// Items have a name and a text that distinguishes versions; the app stores them in any form.
/// Nothing must happen automatically: engines have `automaticallySync` off, and timers use the
/// clock in `AppSurroundings`. No member may block its thread until a task or an operation has
/// ended: the tasks of a scenario run one after the other, so that this one would not begin.
public protocol ConformingApp: AnyObject, Sendable {
  /// Creates or changes the item called `name`, as a user action.
  ///
  /// Returns when the app would confirm the action to its user; from then on it must not be lost.
  func write(_ text: String, as name: String) async throws

  /// Deletes the item called `name`, as a user action.
  func delete(_ name: String) async throws

  /// The items visible to the user: the text of each synced item by name.
  var items: [String: String] { get async throws }

  /// Fetches and sends once, as after a user's request, and returns when both have ended.
  ///
  /// It must not wait for the clock, which does not move meanwhile: a retry that has to wait is
  /// that of the next call. May throw after errors; the test examines how the app handles them, and
  /// quotes the error in its findings. Without a fault, an error is a finding.
  func sync() async throws
}
