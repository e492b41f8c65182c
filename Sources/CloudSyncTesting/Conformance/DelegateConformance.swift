public import CloudSync

/// Tests an app's sync under faults, conflicts, account changes and crashes, and reports lost data.
///
/// ```swift
/// let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
/// try await suite.run().check()
/// ```
///
/// Each case has its own cloud and initially empty devices. The final content of the server is
/// examined through a new device. No case waits for real time.
public struct DelegateConformance: Sendable {
  /// The name of the app in the report.
  public let name: String

  /// The zone of the app's items.
  ///
  /// Cases that delete the zone are skipped for the default zone.
  public let zone: CKRecordZone.ID

  /// Whether the app's users can change an existing item.
  public let canEdit: Bool

  /// Whether the app's users can delete an item.
  public let canDelete: Bool

  /// Known defects of the app, which are reported without failing.
  public let tolerated: Set<DelegateDefect>

  let launch: @Sendable (AppSurroundings) async throws -> any ConformingApp

  /// Creates a suite for an app.
  ///
  /// - Parameters:
  ///   - name: the app's name.
  ///   - zone: the zone of the app's items; some cases delete it.
  ///   - canEdit: whether items can be changed; if not, two devices create different items of
  ///     the same name instead.
  ///   - canDelete: whether items can be deleted.
  ///   - tolerated: known defects of the app.
  ///   - launch: launches the app with the given folder, container and clock.
  public init(
    _ name: String, zone: CKRecordZone.ID, canEdit: Bool = true, canDelete: Bool = true,
    tolerating tolerated: Set<DelegateDefect> = [],
    launch: @escaping @Sendable (AppSurroundings) async throws -> any ConformingApp
  ) {
    self.name = name
    self.zone = zone
    self.canEdit = canEdit
    self.canDelete = canDelete
    self.tolerated = tolerated
    self.launch = launch
  }

  /// Runs the cases sequentially.
  ///
  /// - Parameter cases: the cases to run; all by default.
  /// - Returns: the findings. An app that throws without a fault has a finding in that case.
  public func run(_ cases: [ConformanceCase] = ConformanceCase.allCases) async -> ConformanceReport
  {
    var report = ConformanceReport(name: name, tolerated: tolerated)
    for one in cases where applies(one) {
      let before = report.findings
      do {
        try await run(one, &report)
      } catch {
        report.add(one.mainDefect, "\(one.rawValue): the app threw \(error)")
      }
      if report.findings == before { report.passed.append(one) }
      // If this case fails, the other cases would only repeat its finding.
      if one == .goodDay, !report.findings.isEmpty { break }
    }
    report.sort()
    return report
  }

  private func applies(_ one: ConformanceCase) -> Bool {
    (zone != .default || !one.removesZones) && (canDelete || one != .refusedDeletions)
  }

  private func run(_ one: ConformanceCase, _ report: inout ConformanceReport) async throws {
    switch one {
    case .goodDay: try await goodDay(&report)
    case .conflicts: try await conflicts(&report)
    case .changesDuringSends: try await changesDuringSends(&report)
    case .refusedSaves: try await refusedSaves(&report)
    case .refusedDeletions: try await refusedDeletions(&report)
    case .fullStorage: try await fullStorage(&report)
    case .lostAnswers: try await lostAnswers(&report)
    case .removedZones: try await removedZones(&report)
    case .encryptedDataReset: try await encryptedDataReset(&report)
    case .expiredTokens: try await expiredTokens(&report)
    case .accounts: try await accounts(&report)
    case .crashes: try await crashes(&report)
    }
  }

  // MARK: Helpers

  func world() -> SimulatedCloud { SimulatedCloud() }

  func device(
    _ name: String, in cloud: SimulatedCloud, account: String? = "alice"
  ) async throws -> TestedDevice {
    try await TestedDevice(name, in: cloud, account: account, launchApp: launch)
  }

  /// The items visible on a new device.
  func witness(in cloud: SimulatedCloud, account: String = "alice") async throws -> [String: String]
  {
    let number = cloud.server.knownDevices().count
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
}

extension DelegateConformance: CustomStringConvertible {
  /// The app's name.
  public var description: String { name }
}
