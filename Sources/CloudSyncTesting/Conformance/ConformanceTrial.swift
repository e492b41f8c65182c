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

  let suite: DelegateConformance
  /// The cloud of all devices, unless a scenario compares several clouds.
  let cloud = SimulatedCloud()
  let executor = SerialTaskExecutor()
  private let observed = Mutex<[Observation]>([])
  private let witnessCount = Mutex(0)
  private let steps = Mutex(0)

  init(_ suite: DelegateConformance) { self.suite = suite }

  var observations: [Observation] { observed.withLock { $0 } }

  /// The number of steps at which the app could crash, in a scenario with crashes.
  var stepCount: Int {
    get { steps.withLock { $0 } }
    set { steps.withLock { $0 = newValue } }
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

  func report(_ defect: DelegateDefect, _ detail: String) {
    observed.withLock { $0.append(Observation(defect: defect, detail: detail)) }
  }

  func device(
    _ name: String, in cloud: SimulatedCloud? = nil, account: String? = "alice"
  ) async throws -> TestedDevice {
    let device = try await TestedDevice(
      name, in: cloud ?? self.cloud, account: account, executor: executor, launchApp: suite.launch)
    await executor.settle()
    return device
  }

  /// The items visible on a new device.
  func witness(
    in cloud: SimulatedCloud? = nil, account: String = "alice"
  ) async throws -> [String: String] {
    let number = witnessCount.withLock { count in
      count += 1
      return count
    }
    let device = try await device("witness \(number)", in: cloud, account: account)
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
    try await device.relaunch()
    try await device.settle()
    let views = [
      ("before the next launch, on the server", early),
      ("on the device", try await device.items()),
      ("on the server", try await witness()),
    ]
    for (place, seen) in views {
      guard let difference = difference(seen, from: expected) else { continue }
      return report(defect, "\(what): \(place) \(difference)")
    }
  }
}
