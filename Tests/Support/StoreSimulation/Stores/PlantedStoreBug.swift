import SyncedStore
import TabStore

/// A fault in the rules of an app, which the simulation of the tabs must find.
///
/// Faults of the kit and of other stores are patches of the catalogue of planted faults.
package enum PlantedStoreBug: String, Hashable, Sendable, CaseIterable {
  /// At equal dates each device keeps its own version.
  case tieByDevice
  /// An edit is dropped when another device deleted the tab.
  case deletionBeatsEdit

  /// The type of the tabs, with the fault.
  var type: SyncedType {
    let bug = self
    return SyncedType(
      ScratchTab.self,
      merging: MergePolicy { conflict in
        guard case .item(let theirs) = conflict.server else {
          return bug == .deletionBeatsEdit ? .server : .mine
        }
        if bug == .tieByDevice, conflict.mine.lastModified == theirs.lastModified { return .mine }
        return CloudTabRecord(conflict.mine).wins(over: CloudTabRecord(theirs)) ? .mine : .server
      })
  }
}
