import CommandLineKit
import Foundation

/// What `watch` shows of a store.
struct Watching<App: StoreApp>: Sendable {
  /// An item at one look.
  struct Item {
    /// What stays the same as long as it is the same item.
    var id: String
    /// What is different when the item has changed.
    var state: AnyHashable
    /// The item as `--json` shows it.
    var document: any Encodable
    /// The item in one line for people.
    var words: String
  }

  /// What an item is called; also its key in `--json`.
  var noun: String

  /// What has happened to an item that is new, different or not there any more.
  var added = "added"
  var changed = "changed"
  var removed = "removed"

  /// The verb that shows the same with `--watch`, after all there is.
  var listVerb = "list"

  /// What the server shall send pushes for; the user's private database unless given.
  var subscriptions = PushLine.privateDatabase

  /// All items, in the order people see them.
  var items: @Sendable (App) throws -> [Item]
}
