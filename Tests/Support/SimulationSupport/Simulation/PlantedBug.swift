package import CloudMachine
package import SyncMachine

/// A fault that can be built into a machine to prove that the checkers see it.
package enum PlantedBug: String, Hashable, Sendable, CaseIterable {
  /// A change is forgotten when the service is unavailable.
  case dropOnServiceUnavailable
  /// A token moves before the app has the page.
  case tokenBeforeDelivery
  /// Pending changes of the old account stay after a switch.
  case keepPendingAfterSwitch
  /// The server takes a save with an old tag.
  case acceptStaleTag
  /// The server does not tell of deletions.
  case forgetTombstone

  /// What to build into each device's machine.
  package var inDevices: SyncMachine.PlantedBugs {
    switch self {
    case .dropOnServiceUnavailable: .dropOnServiceUnavailable
    case .tokenBeforeDelivery: .tokenBeforeDelivery
    case .keepPendingAfterSwitch: .keepPendingAfterSwitch
    case .acceptStaleTag, .forgetTombstone: []
    }
  }

  /// What to build into the server's machine.
  package var inCloud: PlantedBugs {
    switch self {
    case .acceptStaleTag: .acceptStaleTag
    case .forgetTombstone: .forgetTombstone
    case .dropOnServiceUnavailable, .tokenBeforeDelivery, .keepPendingAfterSwitch: []
    }
  }
}
