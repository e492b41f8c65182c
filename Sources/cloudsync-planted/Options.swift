import CommandLineKit
import Foundation
import Planting

/// What the command line asks for.
struct Options {
  /// The most seeds that each programme runs with a fault.
  var seeds = 10_000
  /// How many processes run at once.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// The longest that all runs with a fault together may take, in seconds.
  var seconds = 540
  /// The longest that one run may take, in seconds.
  var runSeconds = 120
  /// The most seeds that each programme runs without a fault.
  var healthySeeds = 200
  /// The longest that one programme runs without a fault, in seconds.
  var healthySeconds = 20
  /// The package whose sources are copied.
  var root = "."
  /// Where the copy and its build are kept, so that the next run builds only what changed.
  var folder: String?
  /// The only faults to run, by name; all when empty.
  var names: [String] = []
  /// Whether to print the faults only.
  var wantsList = false
  /// Whether to say only which faults no longer fit the code.
  var wantsCheck = false
  /// Whether the usage is wanted.
  var wantsHelp = false

  static let usage = """
    usage: cloudsync-planted [--seeds N] [--jobs J] [--seconds S] [--run-seconds S]
                             [--healthy-seeds N] [--healthy-seconds S]
                             [--root PATH] [--folder PATH] [--fault NAME]...
           cloudsync-planted --list | --check [--root PATH]

    Plants faults into a copy of the sources, builds the simulators once, and counts the seeds that
    each fault needs until a simulator reports a violation. At last the simulators run without one.
      --seeds N           the most seeds with a fault, 1 to 1,000,000 (10000)
      --jobs J            how many processes run at once, 1 to 256 (one for each core)
      --seconds S         the longest all runs may take together, 1 to 86,400 (540); the builds and
                          the runs without a fault come on top
      --run-seconds S     the longest one run may take, 1 to 86,400 (120)
      --healthy-seeds N   the most seeds without a fault, 1 to 1,000,000 (200)
      --healthy-seconds S the longest a programme runs without one, 1 to 86,400 (20)
      --root PATH         the package's folder (.)
      --folder PATH       where the copy is kept (.build/planted in the package)
      --fault NAME        this fault only; may be given several times
      --check             say which faults no longer fit the code, without a build
      --list              print the faults and who should find them
    Ends with 0 when every fault was found and no healthy world broke a promise, 1 when not, 2 for a
    wrong command line.
    """

  /// The options for the runs without a fault, which have a time of their own.
  var healthy: Options {
    var options = self
    options.runSeconds = healthySeconds
    options.seconds = 86_400
    return options
  }

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--seeds": seeds = try rest.takeNumber(for: argument, in: 1...1_000_000)
      case "--jobs": jobs = try rest.takeNumber(for: argument, in: 1...256)
      case "--seconds": seconds = try rest.takeNumber(for: argument, in: 1...86_400)
      case "--run-seconds": runSeconds = try rest.takeNumber(for: argument, in: 1...86_400)
      case "--healthy-seeds": healthySeeds = try rest.takeNumber(for: argument, in: 1...1_000_000)
      case "--healthy-seconds":
        healthySeconds = try rest.takeNumber(for: argument, in: 1...86_400)
      case "--root": root = try Self.value(&rest, for: argument)
      case "--folder": folder = try Self.value(&rest, for: argument)
      case "--fault":
        let name = try Self.value(&rest, for: argument)
        guard Catalogue.all.contains(where: { $0.name == name }) else {
          throw UsageError("there is no fault called \(printable(name)); see --list")
        }
        names.append(name)
      case "--check": wantsCheck = true
      case "--list": wantsList = true
      case "--help", "-h": wantsHelp = true
      default: throw UsageError("unknown argument: \(printable(argument))")
      }
    }
  }

  private static func value(
    _ rest: inout ArraySlice<String>, for argument: String
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst() else { throw UsageError("\(argument) needs a value") }
    return value
  }
}
