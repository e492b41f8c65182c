public import Foundation
import SyncSupport
public import SyncedStore
public import TabStore

extension SyncedStore {
  /// Opens the store that tabs and clipboard share: one zone, and one engine.
  ///
  /// - Parameters:
  ///   - directory: a folder for this store.
  ///   - tabs: the type of the tabs.
  ///   - isRecovering: whether damaged files are set aside; ``SyncedStore/recoveries`` lists them,
  ///     and everything is fetched again.
  /// - Throws: `FileError` if a file is damaged or can't be read; nothing is changed then.
  public static func itsypad(
    directory: URL, tabs: SyncedType = TabStore.type, recovering isRecovering: Bool = false
  ) throws -> SyncedStore {
    try FirstVersion(
      directory, files: [TabStore.firstVersion, ClipboardStore.firstVersion],
      recovering: isRecovering
    ).open(
      "ItsypadData", types: [tabs, ClipboardStore.type],
      names: FileNames(items: "cloud-record-metadata.json", state: "cloud-sync-state.data"))
  }
}
