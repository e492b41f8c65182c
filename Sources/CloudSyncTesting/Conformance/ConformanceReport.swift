public import Foundation

/// The result of `DelegateConformance` for an app.
public struct ConformanceReport: Sendable, CustomStringConvertible {
  /// A defect with its evidence.
  public struct Finding: Hashable, Sendable {
    /// The mistake of the app that explains the finding.
    public var defect: DelegateDefect
    /// A description of the actions and the lost data for each occurrence.
    public var details: [String]
    /// The scenario of the first detail: `DelegateConformance.run(only:)` runs it alone.
    public var scenario: String

    /// The line that repeats only this finding.
    public var replay: String { "try await suite.run(only: \"\(scenario)\")" }
  }

  /// The app's name.
  public let name: String

  /// The findings, in the order of `DelegateDefect`.
  public internal(set) var findings: [Finding] = []

  /// Findings that Apple's API alone can't avoid; they do not fail `check()`.
  ///
  /// The addition that avoids one is named in its description.
  public internal(set) var advice: [Finding] = []

  /// The cases that passed.
  public internal(set) var passed: [ConformanceCase] = []

  /// The cases with a finding; advice does not count.
  private var failed: Set<ConformanceCase> = []

  /// The cases of which a scenario was cancelled.
  private var cancelled: Set<ConformanceCase> = []

  /// The number of simulated crashes.
  public internal(set) var crashCount = 0

  /// The known defects of the app.
  public let tolerated: Set<DelegateDefect>

  init(name: String, tolerated: Set<DelegateDefect>) {
    self.name = name
    self.tolerated = tolerated
  }

  /// All defects, known or not, except those that are only advice.
  public var defects: Set<DelegateDefect> { Set(findings.map(\.defect)) }

  /// Whether all defects are tolerated ones, and the run was not cancelled.
  ///
  /// `saveFailuresIgnored` and the defects that it replaces stand for each other.
  public var conforms: Bool { cancelled.isEmpty && defects.allSatisfy(isTolerated) }

  /// Whether all scenarios of a case ran and showed no defect.
  func hasPassed(_ one: ConformanceCase) -> Bool {
    !failed.contains(one) && !cancelled.contains(one)
  }

  private func isTolerated(_ defect: DelegateDefect) -> Bool {
    let parts = DelegateDefect.ignoredSaveFailures
    if defect == .saveFailuresIgnored, parts.isSubset(of: tolerated) { return true }
    return tolerated.contains(defect)
      || (parts.contains(defect) && tolerated.contains(.saveFailuresIgnored))
  }

  /// The report as text: each defect by name, with at most four of its details.
  public var description: String {
    let tried =
      "\(CanonicalText.count(passed.count, "case")) passed, "
      + (crashCount == 0
        ? "the app was not crashed"
        : "after \(CanonicalText.count(crashCount, "simulated crash", "simulated crashes"))")
    let count = CanonicalText.count(findings.count, "defect")
    let verdict =
      findings.isEmpty ? cancelled.isEmpty ? "conforms" : "was not tested" : "has \(count)"
    let end = cancelled.isEmpty ? "" : "; the run was cancelled"
    let head = "\(name) \(verdict): \(tried)\(end)"
    let lines = findings.flatMap { finding in
      text(finding, mark: isTolerated(finding.defect) ? " (tolerated)" : "")
    }
    return ([head] + lines + advice.flatMap { text($0, mark: " (advice)") })
      .joined(separator: "\n")
  }

  private func text(_ finding: Finding, mark: String) -> [String] {
    let details = finding.details
    return ["- \(finding.defect.rawValue)\(mark): \(finding.defect.sentence)"]
      + details.prefix(4).map { "    \($0)" }
      + (details.count > 4 ? ["    ... and \(details.count - 4) more"] : [])
      + ["    replay: \(finding.replay)"]
  }

  /// Returns when the app conforms.
  /// - Throws: `ConformanceFailure` with the report when it has a defect that is not tolerated, or
  ///   the run was cancelled.
  public func check() throws {
    if !conforms { throw ConformanceFailure(description: description) }
  }

  /// Adds the findings of a scenario; there is no outcome if it was cancelled.
  mutating func add(_ outcome: ScenarioOutcome?, of scenario: ConformanceScenario) {
    guard let outcome else {
      cancelled.insert(scenario.conformanceCase)
      return
    }
    if outcome.hasCrashed { crashCount += 1 }
    for observation in outcome.observations { add(observation, in: scenario.name) }
    if outcome.observations.contains(where: { !$0.defect.needsAddition }) {
      failed.insert(scenario.conformanceCase)
    }
  }

  private mutating func add(_ observation: ConformanceTrial.Observation, in scenario: String) {
    let list = observation.defect.needsAddition ? \Self.advice : \Self.findings
    if let place = self[keyPath: list].firstIndex(where: { $0.defect == observation.defect }) {
      self[keyPath: list][place].details.append(observation.detail)
    } else {
      self[keyPath: list].append(
        Finding(
          defect: observation.defect, details: [observation.detail], scenario: scenario))
    }
  }

  /// Replaces the defects of all single errors by the one that they have in common, and sorts.
  mutating func finish() {
    let single = findings.filter { DelegateDefect.ignoredSaveFailures.contains($0.defect) }
    if single.count == DelegateDefect.ignoredSaveFailures.count {
      findings.removeAll { DelegateDefect.ignoredSaveFailures.contains($0.defect) }
      findings.append(
        Finding(
          defect: .saveFailuresIgnored, details: single.flatMap(\.details),
          scenario: single[0].scenario))
    }
    let order = DelegateDefect.allCases
    findings.sort { first, second in
      (order.firstIndex(of: first.defect) ?? 0) < (order.firstIndex(of: second.defect) ?? 0)
    }
  }
}

/// The error for an app with a defect; its description is the report.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible,
  LocalizedError
{
  /// The report.
  public let description: String

  /// The report.
  public var errorDescription: String? { description }
}
