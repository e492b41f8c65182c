import CloudSync
import Synchronization

/// The error of a suite that names a zone which the app does not create.
struct MissingZone: Error, CustomStringConvertible {
  var name: String
  var others: [String]

  var description: String {
    "the suite was created with the zone \(name), but after a sync the account has "
      + (others.isEmpty ? "no zones" : "only: \(others.joined(separator: ", "))")
  }
}

/// One scenario of the suite in progress: its cloud, its devices and its findings.
final class ConformanceTrial: Sendable {
  /// A defect that the scenario showed, with a description of the actions and the lost data.
  struct Observation: Sendable {
    var defect: DelegateDefect
    var detail: String
  }

  private struct State {
    var outcome = ScenarioOutcome()
    var witnessCount = 0
    /// The first error that a sync threw.
    var firstFailure: String?
    /// The errors of the last syncs, by the names of the devices.
    var lastFailures: [String: String] = [:]
  }

  let suite: DelegateConformance
  /// The final items of the conflicts of this run.
  let ends: ConflictEnds
  /// The cloud of all devices.
  let cloud = SimulatedCloud()
  let executor = SerialTaskExecutor()
  private let state = Mutex(State())

  init(_ suite: DelegateConformance, _ ends: ConflictEnds) {
    self.suite = suite
    self.ends = ends
  }

  /// The findings and the steps of the scenario so far.
  var outcome: ScenarioOutcome { state.withLock { $0.outcome } }

  /// The first error that a sync threw; `nil` if none did.
  var firstFailure: String? { state.withLock { $0.firstFailure } }

  /// Notes the number of steps at which the app could crash.
  func noteSteps(_ count: Int) { state.withLock { $0.outcome.stepCount = count } }

  /// Notes that the app was crashed.
  func noteCrash() { state.withLock { $0.outcome.hasCrashed = true } }

  /// Notes the end of a sync.
  func noteSync(on device: String, _ error: (any Error)?) {
    let failure = error.map { Self.text(of: $0) }
    state.withLock { state in
      state.lastFailures[device] = failure
      state.firstFailure = state.firstFailure ?? failure
    }
  }

  /// An error as a text that is the same in every run.
  static func text(of error: any Error) -> String {
    let folder = /[^\s"'=]*cloudsync-device-[0-9A-F\-]{36}/
    return SnapshotNormalization([.uuids, .users])
      .applied(to: "\(error)".replacing(folder, with: "<folder>"))
  }

  /// Runs `body` with all tasks of its devices on one executor.
  func perform(_ body: (ConformanceTrial) async throws -> Void) async throws {
    var environment = CloudSyncEnvironment.current ?? .process
    environment.taskExecutor = executor
    try await CloudSyncEnvironment.$current.withValue(environment) {
      try await withTaskExecutorPreference(executor) { try await body(self) }
    }
  }

  /// Removes the zone of the suite.
  ///
  /// - Throws: `MissingZone` if there is none.
  func removeZone(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason = .deleted
  ) throws {
    try checkZone()
    try cloud.removeZone(suite.zone, of: "alice", reason: reason)
  }

  /// Checks that the zone of the suite exists.
  func checkZone() throws {
    let names = try cloud.contents(of: "alice").zoneIDs.map(\.zoneName)
    guard names.contains(suite.zone.zoneName) else {
      throw MissingZone(name: suite.zone.zoneName, others: names)
    }
  }

  /// Reports a defect, with the errors of the last syncs, which often explain it.
  func report(_ defect: DelegateDefect, _ detail: String) {
    state.withLock { state in
      let failures = state.lastFailures.sorted { $0.key < $1.key }
        .map { "; the last sync on \($0.key) threw \($0.value)" }
      state.outcome.observations.append(
        Observation(defect: defect, detail: detail + failures.joined()))
    }
  }

  func device(_ name: String, account: String? = "alice") async throws -> TestedDevice {
    let device = try await TestedDevice(name, account: account, in: self)
    await executor.settle()
    return device
  }

  /// The items visible on a new device.
  func witness(account: String = "alice") async throws -> [String: String] {
    let number = state.withLock { state in
      state.witnessCount += 1
      return state.witnessCount
    }
    let device = try await device("witness \(number)", account: account)
    try await device.settle()
    return try await device.items()
  }

  /// The difference between two views, as text.
  func difference(_ seen: [String: String], from expected: [String: String]) -> String? {
    let lost = expected.keys.filter { seen[$0] == nil }.sorted()
    let extra = seen.keys.filter { expected[$0] == nil }.sorted()
    let old = expected.keys.filter { seen[$0] != nil && seen[$0] != expected[$0] }.sorted()
    var words: [String] = []
    if !lost.isEmpty { words.append("lost \(lost.joined(separator: ", "))") }
    if !old.isEmpty { words.append("other version of \(old.joined(separator: ", "))") }
    if !extra.isEmpty { words.append("still there: \(extra.joined(separator: ", "))") }
    return words.isEmpty ? nil : words.joined(separator: "; ")
  }

  /// Lets the device sync, launch again and sync again; before and after the launch the server, and
  /// at the end the device, must have `expected`.
  func expect(
    _ expected: [String: String], from device: TestedDevice, _ defect: DelegateDefect,
    _ what: String
  ) async throws {
    try await device.settle()
    let early = try await witness()
    let changes = device.changeCount
    try await device.relaunch()
    try await device.settle()
    let late = try await device.changeCount == changes ? early : witness()
    let views = [
      ("before the next launch, on the server", early),
      ("on the device", try await device.items()),
      ("on the server", late),
    ]
    for (place, seen) in views {
      guard let difference = difference(seen, from: expected) else { continue }
      return report(defect, "\(what): \(place) \(difference)")
    }
  }
}
