/// One launch of an app whose sync is put through `DelegateConformance`: how a test does what a
/// user does, and sees what a user sees.
///
/// Items have names, and a text that tells versions apart; how the app keeps them is its own
/// business. Nothing is to happen by itself: engines have `automaticallySync` off, and timers go by
/// the clock in `AppSurroundings`.
public protocol ConformingApp: AnyObject, Sendable {
  /// Makes the item called `name`, or changes it, as its user does.
  ///
  /// Returns when the app would tell its user that it is done; from then on it must not get lost.
  func write(_ text: String, as name: String) async throws

  /// Deletes the item called `name`, as its user does.
  func delete(_ name: String) async throws

  /// What the user sees of everything that syncs: the text of each item by its name.
  var items: [String: String] { get async throws }

  /// Fetches and sends once, as the app does when its user asks for it; returns when that is over.
  ///
  /// May throw when there is trouble; what the app does about it is what is tested.
  func sync() async throws
}
