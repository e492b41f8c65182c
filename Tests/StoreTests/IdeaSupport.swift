import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SimulationSupport
import SyncSupport
import Synchronization
import Testing

@testable import IdeaStore

/// A wall clock that a test sets, in seconds since 1970.
final class SetClock: Sendable {
  /// 2026-11-03, 12:00 UTC.
  static let noon = 1_793_707_200.0

  private let seconds: Mutex<Double>

  init(_ seconds: Double = SetClock.noon) { self.seconds = Mutex(seconds) }

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func move(by change: Double) { seconds.withLock { $0 += change } }
}

/// A device with a store of ideas, a clock that stands still, and a wall clock of its own.
final class IdeaDevice: Sendable {
  let device: LoopbackDevice
  let clock = SimulatedClock()
  let wall: SetClock
  let store: IdeaStore
  let folder: ResultFolder
  private let pushes: any SignalObservation

  init(
    _ server: LoopbackServer, _ name: String, account: String? = "ada",
    folder: ResultFolder = ResultFolder(), wall: SetClock = SetClock(),
    timing: IdeaStore.Timing = IdeaStore.Timing(),
    through way: (LoopbackDevice) -> any CloudTransport = { $0 }
  ) throws {
    device = server.device(name, signedInAs: account)
    self.wall = wall
    self.folder = folder
    let seed = name.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
    let next = Mutex(seed &* 1_000_003)
    // Containers post to a center that other tests use at the same time.
    let accounts = NotificationCenter()
    let store = try IdeaStore(
      directory: folder.url,
      container: CKContainer(identifier: IdeaStore.containerIdentifier, transport: way(device)),
      deviceID: name, clock: clock, timing: timing,
      makeID: {
        UUID.numbered(
          next.withLock {
            $0 += 1; return $0
          })
      }, now: { wall.now }, notificationCenter: accounts)
    self.store = store
    pushes = device.observeSignals { [weak store, accounts] signal in
      store?.hear(signal)
      if signal == .accountChanged { accounts.post(name: .CKAccountChanged, object: nil) }
    }
  }

  /// Starts the store and syncs once.
  @discardableResult
  func begin() async throws -> IdeaSyncStatus {
    store.start()
    return try await store.syncNow()
  }

  /// The next status for which `isMet` holds.
  @discardableResult
  func status(_ isMet: (IdeaSyncStatus) -> Bool) async -> IdeaSyncStatus {
    for await status in store.statusUpdates where isMet(status) { return status }
    return store.status
  }

  /// Returns when no pass is under way and none is asked for.
  func rest() async {
    await status { status in
      status.phase != .syncing && !store.state.withLock(\.wants.isAsked)
    }
  }

  /// Lets `trigger` happen and returns after the pass that follows.
  @discardableResult
  func pass(after trigger: IdeaSyncTrigger = .scheduled) async -> IdeaSyncStatus {
    let updates = store.statusUpdates
    store.trigger(trigger)
    var hasBegun = false
    for await status in updates {
      if status.phase == .syncing { hasBegun = true } else if hasBegun { return status }
    }
    return store.status
  }

  var titles: [String] { store.ideas.map(\.title) }
}

/// A way to the cloud whose queries do not show some records yet, as an index that is behind.
final class LateIndex: CloudTransport {
  private let device: LoopbackDevice
  private let hidden = Mutex<Set<String>>([])

  init(_ device: LoopbackDevice) { self.device = device }

  func hide(_ id: UUID) { hidden.withLock { $0 = [id.uuidString] } }

  func showAll() { hidden.withLock { $0 = [] } }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let reply = try await device.send(call)
    guard case .queried(var page) = reply else { return reply }
    let hidden = hidden.withLock { $0 }
    page.records.removeAll { hidden.contains($0.id.name) }
    return .queried(page)
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    device.observeSignals(listener)
  }
}

/// A way to a cloud whose clock is another one: it puts other dates of change on records.
///
/// The loopback server's clock never stands still nor goes back, so the queries are answered here,
/// from all records, page by page.
final class OtherClock: CloudTransport {
  private let device: LoopbackDevice
  /// The date of change of a record, in seconds since 2001.
  private let time: @Sendable (Record) -> Double

  init(_ device: LoopbackDevice, _ time: @escaping @Sendable (Record) -> Double) {
    self.device = device
    self.time = time
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    guard case .queryRecords(let request) = call.request else { return try await device.send(call) }
    var records = try await everything(call, request).map { record in
      let time = Timestamp(secondsSinceReferenceDate: time(record))
      var record = record
      record.modified?.time = time
      return record
    }
    for filter in request.query.filters where filter.key == SystemField.modified.rawValue {
      guard case .date(let start) = filter.value else { continue }
      records.removeAll { record in
        let time = record.modified?.time.secondsSinceReferenceDate ?? 0
        return filter.comparator == .greaterThan
          ? time <= start.secondsSinceReferenceDate : time < start.secondsSinceReferenceDate
      }
    }
    if let sort = request.query.sorts.first {
      records.sort { first, second in
        let times = (time(first), time(second))
        if times.0 == times.1 { return first.id < second.id }
        return sort.ascending == (times.0 < times.1)
      }
    }
    let start = request.cursor.map { $0.bytes.reduce(0) { $0 * 256 + Int($1) } } ?? 0
    let end = min(records.count, start + (request.limit ?? 100))
    let cursor = QueryCursor(bytes: [UInt8(end / 256), UInt8(end % 256)])
    return .queried(
      QueryPage(
        records: Array(records[start..<end]), cursor: end < records.count ? cursor : nil))
  }

  private func everything(
    _ call: CloudCall, _ request: QueryRecords
  ) async throws(CloudError) -> [Record] {
    var (call, request, records) = (call, request, [Record]())
    request.query.filters.removeAll { $0.key == SystemField.modified.rawValue }
    request.query.sorts = []
    request.limit = nil
    request.cursor = nil
    repeat {
      call.request = .queryRecords(request)
      call.requestID = UUID().uuidString
      guard case .queried(let page) = try await device.send(call) else { return records }
      records += page.records
      request.cursor = page.cursor
    } while request.cursor != nil
    return records
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    device.observeSignals(listener)
  }
}

extension IdeaStore {
  /// Hears a signal as an app hears a push.
  func hear(_ signal: CloudSignal) {
    guard case .push(let push) = signal else { return }
    if push.subscription.rawValue.isEmpty { return receivedPush(recordName: nil) }
    didReceiveRemoteNotification(
      CKNotification.remoteNotificationDictionary(for: push, notificationID: "push"))
  }
}

extension UUID {
  /// A UUID made of a number.
  static func numbered(_ number: UInt64) -> UUID {
    let hex = String(number, radix: 16)
    let digits = String(repeating: "0", count: 16 - hex.count) + hex
    return UUID(uuidString: "1DEA0000-0000-4000-\(digits.prefix(4))-\(digits.suffix(12))") ?? UUID()
  }
}

extension LoopbackServer {
  /// The ideas an account has in the cloud, by their records.
  func ideas(of account: String = "ada") throws -> [Record] {
    try records(in: .default, container: IdeaStore.containerIdentifier, account: account)
  }

  /// A database as another app on another device reaches it.
  func database(_ device: String, account: String = "ada") -> CKDatabase {
    CKContainer(
      identifier: IdeaStore.containerIdentifier,
      transport: self.device(device, signedInAs: account)
    ).privateCloudDatabase
  }
}

extension IdeaSyncStatus {
  var isDone: Bool { phase == .synced && pending == 0 }
}
