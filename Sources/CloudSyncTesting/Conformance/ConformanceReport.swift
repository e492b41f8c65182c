/// The result of `DelegateConformance` for an app.
public struct ConformanceReport: Sendable, CustomStringConvertible {
  /// A defect with its evidence.
  public struct Finding: Hashable, Sendable {
    /// The defect.
    public var defect: DelegateDefect
    /// A description of the actions and the lost data for each occurrence.
    public var details: [String]
  }

  /// The app's name.
  public let name: String

  /// The findings, in the order of `DelegateDefect`.
  public internal(set) var findings: [Finding] = []

  /// The cases that passed.
  public internal(set) var passed: [ConformanceCase] = []

  /// The number of simulated crashes.
  public internal(set) var crashCount = 0

  /// The known defects of the app.
  public let tolerated: Set<DelegateDefect>

  init(name: String, tolerated: Set<DelegateDefect>) {
    self.name = name
    self.tolerated = tolerated
  }

  /// All defects, known or not.
  public var defects: Set<DelegateDefect> { Set(findings.map(\.defect)) }

  /// Whether all defects are tolerated ones.
  public var conforms: Bool { defects.isSubset(of: tolerated) }

  /// The report as text: each defect by name, with at most four of its details.
  public var description: String {
    let tried =
      "\(CanonicalText.count(passed.count, "case")) passed, "
      + "\(CanonicalText.count(crashCount, "crash", "crashes"))"
    let count = CanonicalText.count(findings.count, "defect")
    let head = findings.isEmpty ? "\(name) conforms: \(tried)" : "\(name) has \(count): \(tried)"
    let lines = findings.flatMap { finding in
      let mark = tolerated.contains(finding.defect) ? " (tolerated)" : ""
      return ["- \(finding.defect.rawValue)\(mark): \(finding.defect.sentence)"]
        + finding.details.prefix(4).map { "    \($0)" }
        + (finding.details.count > 4 ? ["    ... and \(finding.details.count - 4) more"] : [])
    }
    return ([head] + lines).joined(separator: "\n")
  }

  /// Returns when the app conforms.
  /// - Throws: `ConformanceFailure` with the report when it has a defect that is not tolerated.
  public func check() throws {
    if !conforms { throw ConformanceFailure(description: description) }
  }

  mutating func add(_ defect: DelegateDefect, _ detail: String) {
    if let place = findings.firstIndex(where: { $0.defect == defect }) {
      findings[place].details.append(detail)
    } else {
      findings.append(Finding(defect: defect, details: [detail]))
    }
  }

  mutating func sort() {
    let order = DelegateDefect.allCases
    findings.sort { first, second in
      (order.firstIndex(of: first.defect) ?? 0) < (order.firstIndex(of: second.defect) ?? 0)
    }
  }
}

/// The error for an app with a defect; its description is the report.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The report.
  public let description: String
}
