import CommandLineKit
import Foundation
import StoreSimulation

/// What the command line asks for.
struct Options {
  /// The kinds of store.
  var kinds = StoreKind.all
  /// How many seeds to run with each.
  var count = 200
  /// The first of them.
  var first: UInt64 = 0
  /// How many threads run worlds.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// A fault to build in.
  var bug: PlantedStoreBug?
  /// The one seed to run, instead of many.
  var seed: UInt64?
  /// Whether each world is run twice, to see whether both runs are the same.
  var isTwice = false
  /// Whether worlds are short.
  var isShort = false
  /// Whether to end at the first violation, the worlds run one after the other.
  var endsAtViolation = false
  /// Whether to print everything that happens.
  var wantsTrace = false
  /// Whether the usage is wanted.
  var wantsHelp = false

  static let usage = """
    usage: stores-simulate [--store NAME] [--seeds N] [--from S] [--jobs J] [--twice] [--bug NAME]
           stores-simulate --until-violation --store NAME [--seeds N] [--from S] [--bug NAME]
           stores-simulate --store NAME --seed S [--trace] [--bug NAME]

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

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--seeds": count = try rest.takeNumber(for: argument, in: 1...1_000_000)
      case "--from": first = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--jobs": jobs = try rest.takeNumber(for: argument, in: 1...256)
      case "--seed": seed = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--twice": isTwice = true
      case "--short": isShort = true
      case "--trace": wantsTrace = true
      case "--until-violation": endsAtViolation = true
      case "--help", "-h": wantsHelp = true
      case "--store":
        let name = rest.popFirst() ?? ""
        kinds = StoreKind.all.filter { $0.name == name }
        guard !kinds.isEmpty else {
          let names = StoreKind.all.map(\.name).joined(separator: ", ")
          throw UsageError("--store needs one of \(names)")
        }
      case "--bug":
        guard let bug = PlantedStoreBug(rawValue: rest.popFirst() ?? "") else {
          let names = PlantedStoreBug.allCases.map(\.rawValue).joined(separator: ", ")
          throw UsageError("--bug needs one of \(names)")
        }
        self.bug = bug
      default: throw UsageError("unknown argument: \(printable(argument))")
      }
    }
    if wantsTrace, seed == nil { throw UsageError("--trace needs --seed") }
  }
}
