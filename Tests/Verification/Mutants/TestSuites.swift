import Foundation
import Planted
import VerificationSupport

/// The test suites of a build, and the mutants whose places each of them executes.
struct TestSuites: Sendable {
  /// A suite, or a test outside of one.
  struct Suite: Hashable, Sendable {
    /// The name, such as `RecordsTests.RecordTests`.
    var name: String
    /// The time it takes alone.
    var seconds: Double
    /// The numbers of the mutants that it executes.
    var mutants: Set<Int>

    /// The pattern that selects it.
    var filter: String { "^\(NSRegularExpression.escapedPattern(for: name))(/|$)" }
  }

  /// The program with all tests.
  let program: URL
  /// The suites that pass without a mutant and execute the place of one, the quickest first.
  private(set) var suites: [Suite] = []
  /// The names of suites that do not pass without a mutant.
  private(set) var failing: [String] = []

  /// Targets whose tests look at the text of the sources, not at what it does.
  private static let readers = ["SourceRuleTests.", "PlantingTests."]

  /// Runs every suite by itself in the build in `folder`, whose mutants have numbers below `count`.
  init(of folder: URL, jobs: Int, count: Int) throws {
    program = try TestSuites.program(of: folder)
    let list = try ProcessOutcome.run(
      [program.path, "--testing-library", "swift-testing", "--list-tests"], seconds: 120)
    let names = Set(
      list.output.split(separator: "\n").filter { $0.contains(/^\w+\.\w+/) }
        .map { String($0.prefix { $0 != "/" }) }
    ).filter { name in !Self.readers.contains { name.hasPrefix($0) } }.sorted()
    let program = program
    let (suites, failing) = try runOnThreads(
      jobs, count: names.count, into: ([Suite](), [String]())
    ) { index in
      try TestSuites.measure(names[index], program, count: count)
    } combine: { outcome, index, suite in
      if let suite { outcome.0.append(suite) } else { outcome.1.append(names[index]) }
    }
    self.suites = suites.filter { !$0.mutants.isEmpty }
      .sorted { ($0.seconds, $0.name) < ($1.seconds, $1.name) }
    self.failing = failing.sorted()
  }

  private static func program(of folder: URL) throws -> URL {
    let place = try ProcessOutcome.run(
      [
        ProcessInfo.processInfo.environment["SWIFT"] ?? "swift", "build", "--package-path",
        folder.path, "--show-bin-path",
      ], environment: ["CLOUDSYNC_STRICT": "0"], seconds: 600)
    let path = URL(
      fileURLWithPath: place.output.split(separator: "\n").last.map(String.init) ?? "")
    let files = try FileManager.default.contentsOfDirectory(atPath: path.path)
    guard let name = files.first(where: { $0.hasSuffix("PackageTests.xctest") }) else {
      throw PlantingError("there is no test program in \(path.path)")
    }
    return path.appendingPathComponent(name)
  }

  /// A suite with its time and mutants; `nil` if it fails.
  private static func measure(_ name: String, _ program: URL, count: Int) throws -> Suite? {
    let seen = FileManager.default.temporaryDirectory.appendingPathComponent("seen-\(UUID())")
    try Data(count: count).write(to: seen)
    defer { try? FileManager.default.removeItem(at: seen) }
    var suite = Suite(name: name, seconds: 0, mutants: [])
    let start = ContinuousClock.now
    let outcome = try run([suite], program, [MutatedCopy.seen: seen.path], seconds: 120)
    suite.seconds = start.duration(to: .now) / .seconds(1)
    guard outcome.status == 0 else { return nil }
    suite.mutants = Set(
      try Data(contentsOf: seen).enumerated().filter { $0.element != 0 }.map(\.offset))
    return suite
  }

  private static func run(
    _ suites: some Sequence<Suite>, _ program: URL, _ environment: [String: String], seconds: Int
  ) throws -> ProcessOutcome {
    try ProcessOutcome.run(
      [program.path, "--testing-library", "swift-testing"]
        + suites.flatMap { ["--filter", $0.filter] },
      environment: environment, seconds: seconds)
  }

  /// What the tests say of a mutant.
  enum Verdict: Hashable, Sendable {
    /// A test failed, the process crashed or did not end in time.
    case killed(by: String)
    /// All tests that execute it passed, in so many suites; not all of them ran if there was no
    /// time.
    case survived(suites: Int, of: Int)

    var isKilled: Bool {
      if case .killed = self { true } else { false }
    }
  }

  /// Runs the suites that execute a mutant, the quickest first, until one fails.
  ///
  /// - Parameter most: how many seconds the suites may take together, by their times alone.
  func verdict(on number: Int, most: Double) throws -> Verdict {
    let all = suites.filter { $0.mutants.contains(number) }
    var rest = all[...]
    var used = 0.0
    // Each process has more to do than the one before; most mutants end in the first.
    var step = 3.0
    while !rest.isEmpty, used < most {
      var seconds = 0.0
      let batch = rest.prefix { suite in
        defer { seconds += suite.seconds }
        return seconds < step
      }
      rest = rest.dropFirst(batch.count)
      used += seconds
      step *= 4
      let outcome = try Self.run(
        batch, program, [MutatedCopy.active: "\(number)"], seconds: Int(30 + 3 * seconds))
      if outcome.tookTooLong { return .killed(by: "time in \(batch.count) suites") }
      if outcome.status < 0 { return .killed(by: "signal \(-outcome.status)") }
      if outcome.status != 0 {
        let issue = outcome.output.split(separator: "\n").first {
          $0.contains("recorded an issue")
        }
        return .killed(by: String(issue ?? "exit code \(outcome.status)"))
      }
    }
    return .survived(suites: all.count - rest.count, of: all.count)
  }
}
