/// What `DelegateConformance` found out about an app.
public struct ConformanceReport: Sendable, CustomStringConvertible {
  /// A defect, and what was lost by it.
  public struct Finding: Hashable, Sendable {
    /// What is wrong.
    public var defect: DelegateDefect
    /// What was done and what was lost, once for each time it was seen.
    public var details: [String]
  }

  /// The app's name.
  public let name: String

  /// What is wrong, in the order of `DelegateDefect`.
  public internal(set) var findings: [Finding] = []

  /// The cases that ended as they should.
  public internal(set) var passed: [ConformanceCase] = []

  /// How many crashes were tried.
  public internal(set) var crashCount = 0

  /// Defects that the app is known to have.
  public let tolerated: Set<DelegateDefect>

  init(name: String, tolerated: Set<DelegateDefect>) {
    self.name = name
    self.tolerated = tolerated
  }

  /// All that is wrong, known or not.
  public var defects: Set<DelegateDefect> { Set(findings.map(\.defect)) }

  /// Whether there is nothing wrong but what is tolerated.
  public var conforms: Bool { defects.isSubset(of: tolerated) }

  /// The report for people: each defect by name, with at most four of its details.
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

/// An app that has a defect; its description is the report.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The report.
  public let description: String
}
