public import CloudSync

/// Puts an app's sync through what real life does to it, and reports what it lost.
///
/// ```swift
/// let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
/// try await suite.run().check()
/// ```
///
/// Each case has a cloud of its own and devices that begin empty; what the server holds in the end
/// is what a device sees that never was there before. Nothing waits for real time.
public struct DelegateConformance: Sendable {
  /// The app's name, for the report.
  public let name: String

  /// The zone the app keeps its items in; of the default zone, none of the cases is tried in which
  /// zones are removed.
  public let zone: CKRecordZone.ID

  /// Whether the app's users can change an item after they made it.
  public let canEdit: Bool

  /// Whether the app's users can delete an item.
  public let canDelete: Bool

  /// Defects the app is known to have; the report names them without failing.
  public let tolerated: Set<DelegateDefect>

  let launch: @Sendable (AppSurroundings) async throws -> any ConformingApp

  /// A suite for one app.
  ///
  /// - Parameters:
  ///   - name: the app's name.
  ///   - zone: the zone the app keeps its items in; it is removed in some cases.
  ///   - canEdit: whether items can be changed; of those that can't, two devices make different
  ///     ones of the same name.
  ///   - canDelete: whether items can be deleted.
  ///   - tolerated: defects that the app is known to have, on purpose or until they are mended.
  ///   - launch: launches the app with the folder, container and clock it is given, as on a device
  ///     whose user starts it.
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

  /// Runs the cases, one after the other.
  ///
  /// - Parameter cases: which; all by default.
  /// - Returns: what was found. An app that throws where nothing went wrong has a finding in that
  ///   case.
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
      // Where not even this works, the rest would only say so again.
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

  // MARK: What the cases share

  func world() -> SimulatedCloud { SimulatedCloud() }

  func device(
    _ name: String, in cloud: SimulatedCloud, account: String? = "alice"
  ) async throws -> TestedDevice {
    try await TestedDevice(name, in: cloud, account: account, launchApp: launch)
  }

  /// What a device sees that never was there before.
  func witness(in cloud: SimulatedCloud, account: String = "alice") async throws -> [String: String]
  {
    let number = cloud.server.knownDevices().count
    let device = try await device("witness \(number)", in: cloud, account: account)
    try await device.settle()
    return try await device.items()
  }

  /// What differs between two views, in words.
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
