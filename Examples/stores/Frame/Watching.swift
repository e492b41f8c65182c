import CommandLineKit

/// What `watch` shows of a store.
struct Watching<App: StoreApp>: Sendable {
  /// An item at one time.
  struct Item {
    /// The item's identity.
    var id: String
    /// A value that differs if the item has changed.
    var state: AnyHashable
    /// The item as it is shown.
    var row: Row

    init(_ id: String, _ row: Row, state: AnyHashable? = nil) {
      self.id = id
      self.row = row
      self.state = state ?? AnyHashable(row.words)
    }
  }

  /// The noun for an item; also its key in `--json`.
  var noun: String

  /// The words for an item that is new, different or removed.
  var added = "added"
  var changed = "changed"
  var removed = "removed"

  /// The verb that gets the option `--watch`.
  var listVerb = "list"

  /// The subscriptions for pushes of an HTTP server.
  var subscriptions = PushLine.privateDatabase

  /// All items, in the order in which they are shown.
  var items: @Sendable (App) throws -> [Item]
}
