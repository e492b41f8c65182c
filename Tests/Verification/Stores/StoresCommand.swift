import CommandLineKit
import Foundation
import StoreSimulation
package import VerificationSupport

/// The command `stores` of the verification tool.
package let storesCommand: any VerificationCommand.Type = StoresCommand.self

/// Runs simulations of the example stores and reports violations.
enum StoresCommand: VerificationCommand {
  static let name = "stores"
  static let summary = "the example stores in worlds with faults"
  static let usage = """
    usage: cloudsync-verify stores [--store NAME] [--seeds N] [--from S] [--jobs J] [--twice] [--short]
                                  [--bug NAME]
           cloudsync-verify stores --until-violation --store NAME [--seeds N] [--from S] [--bug NAME]
           cloudsync-verify stores --store NAME --seed S [--trace] [--bug NAME]

    Runs the example stores on three devices of two accounts with faults, decided by the seed.
      --store NAME  one kind only: \(StoreKind.all.map(\.name).joined(separator: ", "))
      --seeds N     how many seeds for each kind, 1 to 1,000,000 (200)
      --from S      the first seed (0)
      --jobs J      how many threads, 1 to 256 (one for each core)
      --twice       run each world twice; both runs must be the same
      --short       shorter worlds, as in the test suite
      --until-violation  run the worlds one after the other, up to the first violation
      --seed S      one seed only
      --trace       print everything that happens in it
      --bug NAME    build a fault into the tabs: \
    \(PlantedStoreBug.allCases.map(\.rawValue).joined(separator: ", "))
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) throws -> Bool {
    let options = try Options(&arguments)
    if let seed = options.seed { return try replay(seed, options) }
    if options.endsAtViolation { return try runUntilViolation(options) }
    var isWell = true
    for kind in options.kinds {
      let begin = ContinuousClock.now
      let outcome = try Fleet(kind, options).run()
      for violation in outcome.violations.prefix(10) { print(violation) }
      let seconds = (ContinuousClock.now - begin) / .seconds(1)
      print(
        "\(kind.name): \(outcome.worlds) seeds, \(outcome.edits) edits, "
          + "\(outcome.requests) requests, \(outcome.violations.count) violations, "
          + "trace \(String(outcome.hash, radix: 16)), "
          + seconds.formatted(.number.precision(.fractionLength(1))) + " s")
      if options.isTwice {
        print(
          "\(kind.name): \(outcome.different.count) seeds ran otherwise the second time: "
            + outcome.different.prefix(10).map(String.init).joined(separator: " "))
      }
      isWell = isWell && outcome.violations.isEmpty && outcome.different.isEmpty
    }
    return isWell
  }

  /// Runs seed after seed up to the first violation; prints each seed before it runs, so that the
  /// one that ended the process is known.
  private static func runUntilViolation(_ options: Options) throws -> Bool {
    for kind in options.kinds {
      for seed in options.first..<options.first &+ UInt64(options.count) {
        say("world \(seed)")
        guard let violation = try options.run(kind, seed).violation else { continue }
        print(violation)
        return false
      }
    }
    return true
  }

  private static func replay(_ seed: UInt64, _ options: Options) throws -> Bool {
    var isWell = true
    for kind in options.kinds {
      let wantsTrace = options.wantsTrace
      let report = try options.run(kind, seed) { if wantsTrace { print($0) } }
      if let violation = report.violation { print(violation) }
      print(
        "\(kind.name), seed \(seed): \(report.edits) edits, \(report.requests) requests, "
          + "\(report.violation == nil ? 0 : 1) violations, "
          + "trace \(String(report.hash, radix: 16))")
      isWell = isWell && report.violation == nil
    }
    return isWell
  }
}
