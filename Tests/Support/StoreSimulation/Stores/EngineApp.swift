import ClipboardStore
import CloudSync
import Foundation
import SimulationSupport
import SyncSupport
import TabStore

/// An app around a `CloudSyncEngine`, as the tabs and the clipboard have one.
final class EngineApp: Sendable {
  let engine: CloudSyncEngine

  /// Makes the engine of a device for `stores` and lets it begin.
  init(_ device: DeviceSetting, _ stores: [any SyncedStore]) throws {
    engine = try CloudSyncEngine(
      database: device.container.privateCloudDatabase, directory: device.folder, stores: stores,
      automaticallySync: device.isAutomatic, clock: device.clock)
    try engine.start()
  }

  /// Syncs by hand; what stands in the way is told in the engine's activity.
  func sync() async { try? await engine.sync() }

  /// Ends in order.
  func quit() async { try? await engine.shutDown() }
}
