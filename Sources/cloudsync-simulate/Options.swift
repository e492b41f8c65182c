import CloudSyncTesting
import CommandLineKit
import Foundation

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
  /// Whether the usage is wanted.
  var wantsHelp = false

  static let usage = """
    usage: cloudsync-simulate [--engine] [--seeds N] [--from S] [--jobs J]
                              [--repeat R] [--second-process] [--situations] [--all-situations]
           cloudsync-simulate [--engine] --until-violation [--seeds N] [--from S]
           cloudsync-simulate [--engine] --seed S [--trace]
           cloudsync-simulate [--engine] --shrink S [--bug NAME]

    Runs worlds of devices and one server with faults, each decided by its seed.
      --engine          whole engines with their tasks, not only their machines
      --seeds N         how many seeds, 1 to 1,000,000,000 (1000)
      --from S          the first seed (0)
      --jobs J          how many threads, 1 to 256 (one for each core)
      --until-violation end at the first promise that does not hold; one thread, which says each
                        world's number before it begins
      --repeat R        run the first R seeds twice and compare (all, with --engine 100)
      --second-process  let a second process run them for the second time (--engine)
      --hashes          print the number of each seed's trace (--engine)
      --situations      print how often each situation was reached (--engine)
      --all-situations  fail unless every situation was reached (--engine)
      --seed S          one seed only
      --trace           print everything that happens in it
      --shrink S        make this failing seed's world as small as it gets, and print it
      --bug NAME        build a fault into the machines:
                        \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", "))
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--engine": isWhole = true
      case "--seeds": count = try rest.takeNumber(for: argument, in: 1...1_000_000_000)
      case "--from": first = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--jobs": jobs = try rest.takeNumber(for: argument, in: 1...256)
      case "--seed": seed = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--shrink":
        shrunkSeed = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--repeat": repeats = try rest.takeNumber(for: argument, in: 0...1_000_000_000)
      case "--second-process": usesSecondProcess = true
      case "--hashes": printsHashes = true
      case "--situations": wantsSituations = true
      case "--all-situations": demandsSituations = true
      case "--trace": wantsTrace = true
      case "--until-violation": endsAtViolation = true
      case "--help", "-h": wantsHelp = true
      case "--bug":
        let name = rest.popFirst() ?? ""
        guard let bug = PlantedBug(rawValue: name) else {
          let names = PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")
          throw UsageError("--bug needs one of \(names)")
        }
        self.bug = bug
      default: throw UsageError("unknown argument: \(argument)")
      }
    }
    if wantsTrace, seed == nil { throw UsageError("--trace needs --seed") }
    let needsEngine = usesSecondProcess || printsHashes || wantsSituations || demandsSituations
    if needsEngine, !isWhole { throw UsageError("this needs --engine") }
    if bug != nil, isWhole { throw UsageError("--bug is for the machines, without --engine") }
  }
}
