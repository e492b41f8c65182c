import SyncedStore
import TabStore

/// A fault in the rules of an app, which the simulation of the tabs must find.
///
/// Faults of the kit and of other stores are patches of the catalogue of planted faults.
package enum PlantedStoreBug: String, Hashable, Sendable, CaseIterable {
  /// At equal dates each device keeps its own version.
  case tieByDevice
  /// The version with the earlier date is kept.
  case earlierWins

  /// The type of the tabs, with the fault.
  var type: SyncedType {
    let bug = self
    return SyncedType(
      ScratchTab.self,
      merging: MergePolicy { conflict in
        guard case .item(let theirs) = conflict.server else { return .mine }
        if bug == .tieByDevice, conflict.mine.lastModified == theirs.lastModified { return .mine }
        let isLater = conflict.mine.wins(over: theirs)
        return isLater == (bug == .tieByDevice) ? .mine : .server
      })
  }
}
