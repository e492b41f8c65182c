import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import SimulationSupport

/// An example store on one simulated device: one adapter for each kind of store.
///
/// An adapter opens the store with the device's settings, makes random edits, and returns what the
/// user sees in a form that can be compared. It makes no decisions about sync.
protocol SimulatedStore: AnyObject, Sendable {
  /// Opens the store on a device and starts it.
  init(_ device: DeviceSetting) throws

  /// Everything of the account that the user sees: one line for each item, by the item's key.
  var lines: [String: String] { get }

  /// The items that are kept on this device only.
  var privateKeys: Set<String> { get }

  /// What all devices of an account must agree on, to the byte, in addition to ``lines``.
  var canonicalText: String { get }

  /// What is shared between accounts, under keys that are equal for both.
  var sharedLines: [String: String] { get }

  /// The reasons why changes can't be sent.
  var trouble: String { get }

  /// The number of changes that the server has not confirmed.
  var waitingCount: Int { get }

  /// Whether an edit of the item may not have reached the server.
  func isWaiting(_ key: String) -> Bool

  /// Makes a random edit, as a user does.
  ///
  /// - Returns: the changes, after the store has acknowledged them.
  /// - Throws: the store's error, which is a violation.
  func edit(_ random: inout SeededRandom) async throws -> [StoreEdit]

  /// Syncs, and returns at the end of the sync, whether it succeeds or not.
  func sync() async

  /// Discards changes that the server refuses permanently, as a user does.
  func giveUpRefused() throws

  /// Creates something that is shared with all who have the link.
  func share() async throws -> URL?

  /// Accepts a share.
  func join(_ url: URL) async throws

  /// Stops the app.
  func quit() async
}

extension SimulatedStore {
  var privateKeys: Set<String> { [] }
  var trouble: String { "" }
  var canonicalText: String { "" }
  var sharedLines: [String: String] { [:] }
  func giveUpRefused() throws {}
  func share() async throws -> URL? { nil }
  func join(_ url: URL) async throws {}

  /// Lines by key; lines that have the same key are joined, so that the duplicate is found.
  static func joined(_ lines: some Sequence<(String, String)>) -> [String: String] {
    Dictionary(lines, uniquingKeysWith: { $0 + " and " + $1 })
  }
}

/// One change that an edit made to one item.
enum StoreEdit: Hashable, Sendable {
  /// The item was created or changed.
  case wrote(key: String, line: String, rank: EditRank = EditRank())
  /// The item was removed; the date is given if the store compares removals with edits.
  case removed(key: String, date: Double? = nil)
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

/// A kind of store: its adapter, and what its conflict rule guarantees.
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
  /// The adapter.
  var store: any SimulatedStore.Type
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
    StoreKind(name: "clipboard", rule: .any, store: SimulatedClipboard.self),
    StoreKind(name: "results", rule: .any, store: SimulatedResults.self),
    StoreKind(
      name: "achievements", rule: .merged { AchievementLine.judge($0, $1) },
      store: SimulatedAchievements.self),
    StoreKind(
      name: "leaderboards", rule: .greatest, store: SimulatedLeaderboards.self, isShareable: true),
    StoreKind(name: "ideas", rule: .greatest, store: SimulatedIdeas.self),
    StoreKind(
      name: "annotations", rule: .merged { _, _ in nil }, store: SimulatedAnnotations.self,
      mustStay: { $0.lowercased().hasPrefix("layer") }, isShareable: true,
      keepsAccountsApart: false),
  ]

  /// Scratch tabs.
  package static let tabs = StoreKind(
    name: "tabs", rule: .greatest, store: SimulatedTabs.self)
}

/// One version of an item.
struct ItemVersion: Hashable, Sendable {
  /// The line that the user saw.
  var line: String
  var rank: EditRank
}
