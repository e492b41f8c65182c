import ClipboardStore
import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import SimulationSupport
import SyncSupport
import SyncedStore
import TabStore

/// An example store on one simulated device, as the simulation uses it.
///
/// One function for each kind of store opens it with the device's settings. The closures make
/// random edits and return what the user sees in a form that can be compared. They make no
/// decisions about sync.
struct SimulatedStore: Sendable {
  /// Items with their keys; equal keys are a duplicate.
  typealias Items = [(key: String, line: String)]

  /// The object that must be gone when its app is.
  var app: any AnyObject & Sendable

  /// Everything of the account that the user sees: one line for each item, by the item's key.
  var items: @Sendable () -> Items

  /// The items that are kept on this device only.
  var privateKeys: @Sendable () -> Set<String> = { [] }

  /// What all devices of an account must agree on, to the byte, in addition to the items.
  var canonicalText: @Sendable () -> String = { "" }

  /// What is shared between accounts, under keys that are equal for both.
  var sharedItems: @Sendable () -> Items = { [] }

  /// The reasons why changes can't be sent.
  var trouble: @Sendable () -> String = { "" }

  /// The keys of items of which the store has reported a contradiction since it was opened.
  var contradictions: @Sendable () -> Set<String> = { [] }

  /// The number of changes that the server has not confirmed.
  var waitingCount: @Sendable () -> Int

  /// Whether an edit of the item may not have reached the server.
  var isWaiting: @Sendable (_ key: String) -> Bool

  /// Makes a random edit, as a user does.
  ///
  /// Returns the changes, after the store has acknowledged them. Throws the store's error, which is
  /// a violation.
  var edit: @Sendable (inout SeededRandom) async throws -> [StoreEdit]

  /// Syncs, and returns at the end of the sync, whether it succeeds or not.
  var sync: @Sendable () async -> Void

  /// Discards changes that the server refuses permanently, as a user does.
  var giveUpRefused: @Sendable () throws -> Void = {}

  /// Creates something that is shared with all who have the link.
  var share: @Sendable () async throws -> URL? = { nil }

  /// Accepts a share.
  var join: @Sendable (URL) async throws -> Void = { _ in }

  /// Stops the app.
  var quit: @Sendable () async -> Void

  /// The items as lines by key.
  var lines: [String: String] { Self.joined(items()) }

  /// The shared items as lines by key.
  var sharedLines: [String: String] { Self.joined(sharedItems()) }

  /// Lines that have the same key are joined, so that the duplicate is found.
  private static func joined(_ items: Items) -> [String: String] {
    Dictionary(items.map { ($0.key, $0.line) }, uniquingKeysWith: { $0 + " and " + $1 })
  }
}

/// One change that an edit made to one item.
enum StoreEdit: Hashable, Sendable {
  /// The item was created or changed.
  case wrote(key: String, line: String, rank: EditRank = EditRank())
  /// The item was removed; the date is given if the store compares removals with edits.
  case removed(key: String, date: Double? = nil)

  /// The item.
  var key: String {
    switch self {
    case .wrote(let key, _, _), .removed(let key, _): key
    }
  }
}

/// The order of versions of an item, if the store's rule compares them.
struct EditRank: Hashable, Comparable, Sendable {
  /// The value that is compared first, such as the date.
  var first = 0.0
  /// The bytes that are compared if the first values are equal.
  var then: [UInt8] = []

  /// Whether the second wins.
  static func < (first: EditRank, second: EditRank) -> Bool {
    first.first == second.first
      ? first.then.lexicographicallyPrecedes(second.then) : first.first < second.first
  }
}

/// The settings of a device for one launch of its app.
struct DeviceSetting: Sendable {
  var account: String
  /// The number of the device in its account, from 0.
  var number: Int
  /// The folder of the app's files.
  var folder: URL
  var container: CKContainer
  /// The connection that receives pushes.
  var link: LoopbackDevice
  /// The clock for waits and timers.
  var clock: VirtualClock
  /// The device's wall clock.
  var now: @Sendable () -> Date
  /// A source of random numbers.
  var random: @Sendable () -> UInt64
  /// A source of IDs that are unique in the simulation.
  var newID: @Sendable () -> UUID
  /// Whether engines sync automatically and pushes are handled.
  var isAutomatic: Bool
  /// The fault to plant.
  var bug: PlantedStoreBug?

  /// Opens a store of tabs and clipboard entries, and starts to sync.
  func itsypad() throws -> SyncedStore {
    let store = try SyncedStore.itsypad(directory: folder, tabs: bug?.type ?? TabStore.type)
    store.connect(to: container, automaticallySync: isAutomatic, clock: clock, now: now)
    try store.start()
    return store
  }

  /// Calls `received` for each push, if the device syncs automatically.
  func observePushes(
    _ received: @escaping @Sendable (CloudPush) -> Void
  ) -> (any SignalObservation)? {
    guard isAutomatic else { return nil }
    return link.observeSignals { signal in
      if case .push(let push) = signal { received(push) }
    }
  }
}

/// A kind of store: how it is opened, and what its conflict rule guarantees.
package struct StoreKind: Sendable {
  /// The expected result of all versions of an item that was not removed.
  enum Rule: Sendable {
    /// The version of the highest rank.
    case greatest
    /// Any one of them.
    case any
    /// The result of a function of all versions and the final line; `nil` if the line is correct.
    case merged(@Sendable (_ versions: [ItemVersion], _ line: String) -> String?)
  }

  /// The name, as on the command line.
  package var name: String
  var rule: Rule
  /// Opens the store on a device and starts it.
  var open: @Sendable (DeviceSetting) throws -> SimulatedStore
  /// Whether an item that was not removed must exist; false if it belongs to another item, which
  /// another user may have removed.
  var mustStay: @Sendable (_ key: String) -> Bool = { _ in true }
  /// Whether accounts can share something.
  var isShareable = false
  /// Whether an account's lines are its own edits only, even if something is shared.
  var keepsAccountsApart = true

  /// All kinds.
  package static let all: [StoreKind] = [
    .tabs,
    StoreKind(name: "clipboard", rule: .any, open: SimulatedStore.clipboard),
    StoreKind(name: "results", rule: .any, open: SimulatedStore.results),
    StoreKind(
      name: "achievements", rule: .merged { AchievementLine.judge($0, $1) },
      open: SimulatedStore.achievements),
    StoreKind(
      name: "leaderboards", rule: .greatest, open: SimulatedStore.leaderboards, isShareable: true),
    StoreKind(name: "ideas", rule: .greatest, open: SimulatedStore.ideas),
    StoreKind(
      name: "annotations", rule: .merged { _, _ in nil }, open: SimulatedStore.annotations,
      mustStay: { $0.lowercased().hasPrefix("layer") }, isShareable: true,
      keepsAccountsApart: false),
  ]

  /// Scratch tabs.
  package static let tabs = StoreKind(
    name: "tabs", rule: .greatest, open: SimulatedStore.tabs)
}

/// One version of an item.
struct ItemVersion: Hashable, Sendable {
  /// The line that the user saw.
  var line: String
  var rank: EditRank
}
