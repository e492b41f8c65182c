import CommandLineKit
import Foundation
import StoreSimulation

/// Runs the example stores in simulated worlds and says what was found.
@main
struct Simulate {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp {
        print(Options.usage)
        return
      }
      let folder = StoreSimulation.defaultFolder
      exit(try run(options, in: folder) ? 0 : 1)
    } catch {
      Output.writeError("stores-simulate: \(error)\n")
      exit(2)
    }
  }

  /// Answers whether every promise held.
  private static func run(_ options: Options, in folder: URL) throws -> Bool {
    if let seed = options.seed { return try replay(seed, options, in: folder) }
    if options.endsAtViolation { return try runUntilViolation(options, in: folder) }
    var isWell = true
    for kind in options.kinds {
      let begin = ContinuousClock.now
      let outcome = try Fleet(kind, options, in: folder).run()
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

  /// Runs world after world up to the first violation; says the number of each before it begins,
  /// so that whoever watches knows which one ended the process.
  private static func runUntilViolation(_ options: Options, in folder: URL) throws -> Bool {
    for kind in options.kinds {
      for seed in options.first..<options.first &+ UInt64(options.count) {
        FileHandle.standardOutput.write(Data("world \(seed)\n".utf8))
        let report = try StoreSimulation.run(
          kind, seed: seed, isShort: options.isShort, bug: options.bug, in: folder)
        guard let violation = report.violation else { continue }
        print(violation)
        return false
      }
    }
    return true
  }

  private static func replay(_ seed: UInt64, _ options: Options, in folder: URL) throws -> Bool {
    var isWell = true
    for kind in options.kinds {
      let wantsTrace = options.wantsTrace
      let report = try StoreSimulation.run(
        kind, seed: seed, isShort: options.isShort, bug: options.bug, in: folder
      ) {
        if wantsTrace { print($0) }
      }
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
