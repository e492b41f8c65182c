import CloudProtocol
import CloudSync
import Foundation
import Records
import SimulationSupport
import Synchronization

/// A client that saves one record after the other, and notes when it was answered.
///
/// A save is repeated with its request ID until it is answered, and some are sent to two servers at
/// once: each must be carried out once, and get the same answer everywhere.
final class Probe: Sendable {
  static let zone = ZoneID(name: "Probe")

  /// The number of the server that it asks; `nil` if it may be any.
  let server: Int?
  private let name: String
  private let transports: [any CloudTransport]
  private let writes: AcknowledgedWrites
  private let state = Mutex(State())
  private let start = ContinuousClock.now

  private struct State {
    var answers: [ContinuousClock.Instant] = []
    var saved: [String: ChangeTag] = [:]
    var twins = 0
  }

  /// - Parameters:
  ///   - transports: The way to its server, and one to another server.
  init(
    _ name: String, server: Int?, _ transports: [any CloudTransport], _ writes: AcknowledgedWrites
  ) {
    self.name = name
    self.server = server
    self.transports = transports
    self.writes = writes
  }

  /// When saves were answered.
  var answers: [ContinuousClock.Instant] { state.withLock { $0.answers } }
  /// When a save was answered last.
  var lastAnswer: ContinuousClock.Instant { state.withLock { $0.answers.last } ?? start }
  /// The tags of all saved records.
  var saved: [String: ChangeTag] { state.withLock { $0.saved } }
  /// The number of saves that two servers answered.
  var twins: Int { state.withLock { $0.twins } }

  /// Makes the zone.
  func prepare() async throws {
    _ = try await transports[0].send(
      Probe.call("zone of \(name)", .modifyZones(ModifyZones(save: [Probe.zone]))))
  }

  /// Saves until `end`.
  func run(until end: ContinuousClock.Instant, _ random: inout SeededRandom) async {
    var number = 0
    while ContinuousClock.now < end {
      number += 1
      let record = "\(name)-\(number)"
      let isTwin = random.chance(0.25)
      async let other = isTwin ? save(record, by: transports[1]) : nil
      var tag = await save(record, by: transports[0])
      let twin = await other
      if let tag, let twin {
        state.withLock { $0.twins += 1 }
        if tag != twin { writes.violation("two servers carried out the save of \(record)") }
      }
      while tag == nil, ContinuousClock.now < end + .seconds(20) {
        try? await Task.sleep(for: .milliseconds(20))
        tag = await save(record, by: transports[0])
        if let tag, let twin, tag != twin {
          writes.violation("the save of \(record) was carried out again")
        }
      }
      if let tag { state.withLock { $0.saved[record] = tag } }
      try? await Task.sleep(for: .milliseconds(random.number(in: 5...40)))
    }
  }

  /// The tag of the saved record; `nil` without an answer.
  func save(_ record: String, by transport: any CloudTransport) async -> ChangeTag? {
    let value = Record(id: RecordID(name: record, zone: Probe.zone), type: "Probe")
    let request = CloudRequest.modifyRecords(ModifyRecords(save: [RecordSave(value)]))
    do throws(CloudError) {
      let reply = try await transport.send(Probe.call(record, request))
      guard case .recordsModified(let saved, _) = reply, let result = saved.first else {
        return nil
      }
      switch result.outcome {
      case .success(let record):
        state.withLock { $0.answers.append(.now) }
        return record.changeTag
      case .failure(let error):
        writes.violation("the save of \(record) was refused: \(error)")
        return nil
      }
    } catch {
      switch error.code {
      case .networkFailure, .networkUnavailable, .serviceUnavailable, .serverResponseLost: break
      default: writes.violation("the save of \(record) failed for good: \(error)")
      }
      return nil
    }
  }

  /// The names and tags of all records of the probes' zone.
  static func records(by transport: any CloudTransport) async throws -> [String: ChangeTag] {
    var found: [String: ChangeTag] = [:]
    var token: ChangeToken?
    var isMore = true
    while isMore {
      let request = CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: zone, since: token))
      guard case .zoneChanges(let page) = try await transport.send(call("fetch", request))
      else { return found }
      for record in page.modified { found[record.id.name] = record.changeTag }
      token = page.token
      isMore = page.moreComing
    }
    return found
  }

  static func call(_ id: String, _ request: CloudRequest) -> CloudCall {
    CloudCall(container: Site.identifier, database: .private, requestID: id, request: request)
  }
}
