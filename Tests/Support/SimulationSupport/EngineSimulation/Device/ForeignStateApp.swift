import CloudProtocol
import CloudSync
import Foundation
import Records
import Synchronization

/// An app that was given the state of another database by mistake: it must be told nothing, for
/// whatever that state knows is missing there.
final class ForeignStateApp: CKSyncEngineDelegate {
  /// The difference between its database and the one of the state.
  enum Difference: String, CaseIterable, Sendable { case scope, container, environment }

  let link: SimulatedLink
  private let name: String
  private let findings: Findings
  private let engine = Mutex<CKSyncEngine?>(nil)

  /// The run that requests of visitors name; no run of an app has this number.
  static let run = 0

  init(
    _ device: EngineDevice, _ difference: Difference, state: CKSyncEngine.State.Serialization,
    _ world: EngineWorld
  ) {
    link = SimulatedLink(
      device: device.number, run: ForeignStateApp.run, networkQueue: world.networkQueue)
    name = device.name
    findings = world.findings
    let container =
      difference == .environment
      ? CKContainer(
        identifier: WorldLayout.container, transport: link, environment: .production)
      : CKContainer(
        identifier: difference == .container ? "iCloud.other" : WorldLayout.container,
        connection: link, taskExecutor: world.executor, notificationCenter: NotificationCenter())
    let isShared = (device.scope == .shared) != (difference == .scope)
    var configuration = CKSyncEngine.Configuration(
      database: isShared ? container.sharedCloudDatabase : container.privateCloudDatabase,
      stateSerialization: state, delegate: self)
    configuration.clock = world.executor.clock
    configuration.taskExecutor = world.executor
    engine.withLock { $0 = CKSyncEngine(configuration) }
    world.journal.reach("foreign \(difference)")
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let told = event.machineEvent.summary
    findings.report("I13", "\(name): a state of another database is taken: \(told)")
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }

  /// Ends its app.
  func end() {
    link.sever()
    engine.withLock { $0 = nil }
  }
}
