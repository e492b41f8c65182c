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

  init(name: String) { self.name = name }

  /// All that is wrong.
  public var defects: Set<DelegateDefect> { Set(findings.map(\.defect)) }

  /// The report for people: each defect by name, with at most four of its details.
  public var description: String {
    let head =
      findings.isEmpty
      ? "\(name) conforms: \(passed.count) cases, \(crashCount) crashes"
      : "\(name) has \(CanonicalText.count(findings.count, "defect")):"
    let lines = findings.flatMap { finding in
      ["- \(finding.defect.rawValue): \(finding.defect.sentence)"]
        + finding.details.prefix(4).map { "    \($0)" }
        + (finding.details.count > 4 ? ["    ... and \(finding.details.count - 4) more"] : [])
    }
    return ([head] + lines).joined(separator: "\n")
  }

  /// - Parameter tolerated: defects that the app has on purpose.
  /// - Throws: `ConformanceFailure` with the report when there is any other one.
  public func check(tolerating tolerated: Set<DelegateDefect> = []) throws {
    guard defects.isSubset(of: tolerated) else {
      throw ConformanceFailure(description: description)
    }
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
