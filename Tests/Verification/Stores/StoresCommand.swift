import CommandLineKit
import Foundation
import StoreSimulation
package import VerificationSupport

/// The command `stores` of the verification tool.
package let storesCommand: any VerificationCommand.Type = StoresCommand.self

/// Runs the example stores in simulated worlds and says what was found.
enum StoresCommand: VerificationCommand {
  static let name = "stores"
  static let summary = "the example stores in worlds with faults"
  static let usage = helpText(PackageResources.help_txt)
    .replacing("KINDS", with: StoreKind.all.map(\.name).joined(separator: ", "))
    .replacing("BUGS", with: PlantedStoreBug.allCases.map(\.rawValue).joined(separator: ", "))

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    var options = try Options(&arguments)
    if let seed = options.seeds.seed { (options.seeds.first, options.seeds.count) = (seed, 1) }
    var isWell = true
    for kind in options.kinds {
      if options.seeds.endsAtViolation {
        isWell = try await options.seeds.runUntilViolation {
          try simulate(kind, $0, options).violation
        }
        guard isWell else { return false }
      } else {
        isWell = try run(kind, options) && isWell
      }
    }
    return isWell
  }

  private static func simulate(
    _ kind: StoreKind, _ seed: UInt64, _ options: Options, wantsTrace: Bool = false
  ) throws -> StoreSimulation.Report {
    try StoreSimulation.run(
      kind, seed: seed, isShort: options.isShort, bug: options.bug,
      in: StoreSimulation.defaultFolder
    ) { if wantsTrace { print($0) } }
  }

  /// The combined reports of the worlds of one kind.
  private struct Outcome: Sendable {
    var worlds = 0
    var edits = 0
    var requests = 0
    /// A hash of all worlds, whatever their order.
    var hash: UInt64 = 0
    var different: [UInt64] = []
    var violations: [StoreViolation] = []
  }

  /// Runs all worlds of one kind and prints the results.
  private static func run(_ kind: StoreKind, _ options: Options) throws -> Bool {
    let begin = ContinuousClock.now
    let outcome = try options.seeds.run("\(kind.name): ", into: Outcome()) { seed in
      let report = try simulate(kind, seed, options, wantsTrace: options.seeds.wantsTrace)
      let isOnce = !options.isTwice
      let isSame = try isOnce || simulate(kind, seed, options) == report
      return (report: report, isSame: isSame)
    } combine: { outcome, result in
      outcome.worlds += 1
      outcome.edits += result.report.edits
      outcome.requests += result.report.requests
      outcome.hash ^= result.report.hash
      if !result.isSame { outcome.different.append(result.report.seed) }
      if let violation = result.report.violation { outcome.violations.append(violation) }
      return nil
    }
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    for violation in outcome.violations.sorted(by: { $0.seed < $1.seed }).prefix(10) {
      print(violation)
    }
    conclude(
      "\(kind.name): \(outcome.worlds) seeds, \(outcome.edits) edits, "
        + "\(outcome.requests) requests, \(outcome.violations.count) violations, "
        + "trace \(String(outcome.hash, radix: 16)), "
        + seconds.formatted(.number.precision(.fractionLength(1))) + " s")
    if options.isTwice {
      print(
        "\(kind.name): \(outcome.different.count) seeds ran otherwise the second time: "
          + outcome.different.sorted().prefix(10).map(String.init).joined(separator: " "))
    }
    return outcome.violations.isEmpty && outcome.different.isEmpty
  }
}
