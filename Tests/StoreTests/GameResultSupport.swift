import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import GameResultStore
@testable import SyncedStore

/// A folder that goes with the test.
final class ResultFolder: Sendable {
  let url: URL

  init() {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "game-results-\(UUID().uuidString)")
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func names() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }
}

/// A device with a results store and a clock that stands still.
final class ResultDevice: Sendable {
  static let containerName = "iCloud.example.results"
  /// 2026-11-03, 12:00 UTC: a day after the newest fixture.
  static let noon = Date(timeIntervalSince1970: 1_793_707_200)

  static var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC") ?? .current
    return calendar
  }

  let device: LoopbackDevice
  let clock = SimulatedClock()
  let store: GameResultStore
  private let folder: ResultFolder
  private let pushes: any SignalObservation

  init(
    _ server: LoopbackServer, _ name: String, account: String?, folder: ResultFolder,
    recovering: Bool = false
  ) throws {
    self.folder = folder
    device = server.device(name, signedInAs: account)
    let store = try GameResultStore(
      directory: folder.url,
      container: CKContainer(identifier: Self.containerName, transport: device), clock: clock,
      calendar: Self.calendar, recovering: recovering, now: { Self.noon })
    self.store = store
    pushes = device.observeSignals { [weak store] signal in
      guard case .push(let push) = signal else { return }
      store?.receivedPush(subscriptionID: push.subscription.rawValue)
    }
  }

  /// The next status for which `isMet` holds.
  func status(_ isMet: (SyncStatus) -> Bool) async -> SyncStatus {
    for await status in store.statusUpdates where isMet(status) { return status }
    return store.status
  }
}

extension GameResultStore {
  /// The names of the unsent results that the server may have.
  var offeredNames: [String] {
    store.state.withLock { state in
      state.table.unsent.filter { state.table[$0]?.change?.wasOffered == true }
        .map(\.recordName)
    }
  }

  var uploads: UploadQueue<CKRecord.ID>? { state.withLock { $0.uploads } }
}

extension SyncStatus {
  var isSynced: Bool {
    if case .synced = state { true } else { false }
  }

  var failure: SyncFailure? {
    if case .failed(let failure) = state { failure } else { nil }
  }
}

extension LoopbackServer {
  /// The results an account has in the cloud, by their IDs' text.
  func results(of account: String) throws -> [String] {
    try records(in: .results, container: ResultDevice.containerName, account: account)
      .map(\.id.name)
  }
}

extension ZoneID {
  static let results = ZoneID(name: "UserDataZone")
}

/// Results numbered from `range`, each of a Wordle of its own.
func wordles(_ range: ClosedRange<Int>) -> String {
  range.map { "Wordle \($0) 4/6" }.joined(separator: "\n\n")
}
