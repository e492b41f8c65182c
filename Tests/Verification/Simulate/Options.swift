import CommandLineKit
import Foundation
import SimulationSupport
import VerificationSupport

/// What the command line asks for.
struct Options {
  /// How many seeds to run.
  var count = 1_000
  /// The first of them.
  var first: UInt64 = 0
  /// How many threads run worlds.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// A fault to build in.
  var bug: PlantedBug?
  /// The one seed to run, instead of many.
  var seed: UInt64?
  /// The one failing seed to make smaller.
  var shrunkSeed: UInt64?
  /// Whether whole engines run, and not only their machines.
  var isWhole = false
  /// The same, each world run once, one after the other.
  var endsAtViolation = false
  /// How many of the first seeds run a second time, each; `nil` for the kind of world's custom.
  var repeats: Int?
  /// Whether the second runs are another process's.
  var usesSecondProcess = false
  /// Whether to print a line with the trace's number for each seed.
  var printsHashes = false
  /// Whether to print how often each situation was reached.
  var wantsSituations = false
  /// Whether a situation that was not reached is a failure.
  var demandsSituations = false
  /// Whether to print everything that happens.
  var wantsTrace = false

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    isWhole = arguments.flag("engine")
    count = try arguments.number("seeds", in: 1...1_000_000_000) ?? count
    first = try arguments.seed("from") ?? first
    jobs = try arguments.number("jobs", in: 1...256) ?? jobs
    seed = try arguments.seed("seed")
    shrunkSeed = try arguments.seed("shrink")
    repeats = try arguments.number("repeat", in: 0...1_000_000_000)
    usesSecondProcess = arguments.flag("second-process")
    printsHashes = arguments.flag("hashes")
    wantsSituations = arguments.flag("situations")
    demandsSituations = arguments.flag("all-situations")
    wantsTrace = arguments.flag("trace")
    endsAtViolation = arguments.flag("until-violation")
    bug = try arguments.choice("bug", of: PlantedBug.self)
    try arguments.end()
    if wantsTrace, seed == nil { throw UsageError("--trace needs --seed") }
    let needsEngine = usesSecondProcess || printsHashes || wantsSituations || demandsSituations
    if needsEngine, !isWhole { throw UsageError("this needs --engine") }
    if bug != nil, isWhole { throw UsageError("--bug is for the machines, without --engine") }
  }
}
