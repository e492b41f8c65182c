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
  /// Whether to end at the first violation, each world run once, one after the other.
  var endsAtViolation = false
  /// Whether to print everything that happens.
  var wantsTrace = false
  /// Whether the usage is wanted.
  var wantsHelp = false

  static let usage = """
    usage: cloudsync-simulate [--seeds N] [--from S] [--jobs J] [--bug NAME]
           cloudsync-simulate --until-violation [--seeds N] [--from S] [--bug NAME]
           cloudsync-simulate --seed S [--trace] [--bug NAME]
           cloudsync-simulate --shrink S [--bug NAME]

    Runs worlds of devices and one server with faults, each decided by its seed and run twice.
      --seeds N   how many seeds, 1 to 1,000,000,000 (1000)
      --from S    the first seed (0)
      --jobs J    how many threads, 1 to 256 (one for each core)
      --until-violation  run the worlds once, one after the other, up to the first violation
      --seed S    one seed only
      --trace     print everything that happens in it
      --shrink S  make this failing seed's world as small as it gets, and print it
      --bug NAME  build a fault in: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", "))
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--seeds": count = try rest.takeNumber(for: argument, in: 1...1_000_000_000)
      case "--from": first = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--jobs": jobs = try rest.takeNumber(for: argument, in: 1...256)
      case "--seed": seed = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--shrink":
        shrunkSeed = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
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
  }
}
