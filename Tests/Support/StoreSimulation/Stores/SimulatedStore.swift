package import CloudSync
package import Foundation
package import LoopbackServer
package import SimulationSupport

/// A real store on one device, as a world drives it: one adapter for each kind of store.
///
/// An adapter decides nothing about sync. It makes the store with what the device gives it,
/// translates "edit something", and shows what people see in a form that can be compared.
package protocol SimulatedStore: AnyObject, Sendable {
  /// Everything of the account that people see: one line an item, by the item's key.
  var lines: [String: String] { get }

  /// The items that left the cloud on this device and are kept here for it alone.
  var privateKeys: Set<String> { get }

  /// Everything that all devices of an account must agree on besides ``lines``, to the byte.
  var canonicalText: String { get }

  /// What is shared between accounts, under names that both know.
  var sharedLines: [String: String] { get }

  /// What stands in the way of changes, in words.
  var trouble: String { get }

  /// How many changes the cloud has not confirmed.
  var waitingCount: Int { get }

  /// Whether an edit of the item may not have reached the cloud.
  func isWaiting(_ key: String) -> Bool

  /// Makes a random edit, as a person does.
  ///
  /// - Returns: what it did, once the store said that it is done.
  /// - Throws: what the store throws; that is a violation.
  func edit(_ random: inout SeededRandom) async throws -> [StoreEdit]

  /// Syncs by hand and returns when the store says it is over, well or not.
  func sync() async

  /// Does what a person does about changes that the cloud refuses for good.
  func giveUpRefused() throws

  /// Makes something that is shared with everybody who has the link.
  func share() async throws -> URL?

  /// Joins what somebody else shared.
  func join(_ url: URL) async throws

  /// Ends the app in order.
  func quit() async
}

extension SimulatedStore {
  /// None, for most stores.
  package var privateKeys: Set<String> { [] }

  /// Nothing that the store would tell.
  package var trouble: String { "" }

  /// Nothing, for most stores.
  package var canonicalText: String { "" }

  /// Nothing, for most stores.
  package var sharedLines: [String: String] { [:] }

  /// Most stores find a way by themselves.
  package func giveUpRefused() throws {}

  /// Most stores share nothing.
  package func share() async throws -> URL? { nil }

  /// Most stores share nothing.
  package func join(_ url: URL) async throws {}
}

/// One thing an edit did to one item.
package enum StoreEdit: Hashable, Sendable {
  /// It made or changed the item.
  case wrote(key: String, line: String, rank: EditRank)
  /// It removed the item; where a removal is a change like any other, at this date.
  case removed(key: String, date: Double? = nil)
}

/// How a version stands to others of its item, where the store's rule compares them.
package struct EditRank: Hashable, Comparable, Sendable {
  /// Compared first, such as the date.
  package var first: Double
  /// Compared where the first are equal.
  package var then: [UInt8]

  /// A version's rank.
  package init(_ first: Double = 0, _ then: [UInt8] = []) {
    self.first = first
    self.then = then
  }

  /// Whether the second wins.
  package static func < (first: EditRank, second: EditRank) -> Bool {
    first.first == second.first
      ? first.then.lexicographicallyPrecedes(second.then) : first.first < second.first
  }
}

/// A device for one run of an app on it, with all that is injected.
package struct DeviceSetting: Sendable {
  /// Who is signed in.
  package var account: String
  /// Which of the account's devices it is, from 0.
  package var number: Int
  /// Where the app keeps its files.
  package var folder: URL
  /// The cloud.
  package var container: CKContainer
  /// The signals of the cloud.
  package var link: LoopbackDevice
  /// The clock by which everything waits.
  package var clock: VirtualClock
  /// What the device's wall clock says.
  package var now: @Sendable () -> Date
  /// Gives out random numbers.
  package var random: @Sendable () -> UInt64
  /// Gives out IDs; no two are the same in a world.
  package var newID: @Sendable () -> UUID
  /// Whether engines work by themselves and pushes are followed.
  package var isAutomatic: Bool
  /// A fault to build in.
  package var bug: PlantedStoreBug?
}

/// A kind of store: how it is made, and what its rule for conflicts promises.
package struct StoreKind: Sendable {
  /// What the versions of an item that nobody removed must end in.
  package enum Rule: Sendable {
    /// The version of the highest rank.
    case greatest
    /// Any one of them.
    case any
    /// What a function says of all versions and the line people see; `nil` when that is right.
    case merged(@Sendable (_ versions: [ItemVersion], _ line: String) -> String?)
  }

  /// The name, as on the command line.
  package var name: String
  /// The conflict rule.
  package var rule: Rule
  /// Whether an item that nobody removed is there in any case; false where it hangs under
  /// another one, which somebody else may have removed.
  package var mustStay: @Sendable (_ key: String) -> Bool
  /// Whether accounts can share something.
  package var isShareable: Bool
  /// Whether the lines of an account are its own edits alone, also where something is shared.
  package var keepsAccountsApart: Bool
  /// Opens the app on a device and lets it begin to sync.
  package var open: @Sendable (DeviceSetting) throws -> any SimulatedStore

  /// A kind of store.
  package init(
    name: String, rule: Rule, mustStay: @escaping @Sendable (_ key: String) -> Bool = { _ in true },
    isShareable: Bool = false, keepsAccountsApart: Bool = true,
    open: @escaping @Sendable (DeviceSetting) throws -> any SimulatedStore
  ) {
    self.mustStay = mustStay
    self.isShareable = isShareable
    self.keepsAccountsApart = keepsAccountsApart
    self.name = name
    self.rule = rule
    self.open = open
  }

  /// Every kind there is.
  package static let all: [StoreKind] = [
    .tabs, .clipboard, .results, .achievements, .leaderboards, .ideas, .annotations,
  ]
}

/// One version of an item that somebody wrote.
package struct ItemVersion: Hashable, Sendable {
  /// What people saw.
  package var line: String
  /// How it stands to others.
  package var rank: EditRank
}
