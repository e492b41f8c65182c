import CommandLineKit

/// What the command line asks for.
struct Options {
  /// Whether to print JSON instead of a table.
  var wantsJSON = false
  /// Whether only the names are wanted.
  var wantsList = false
  /// Whether the usage is wanted.
  var wantsHelp = false
  /// How many pairs of each benchmark, 1 to 10,000.
  var rounds = 21
  /// Only benchmarks whose names hold this text.
  var only: String?

  static let usage = """
    usage: cloudsync-bench [--json] [--rounds N] [--only TEXT] [--list]

    Prints what things cost as ratios of two measurements taken in turn.
      --json      one JSON document; times in nanoseconds for one operation
      --rounds N  pairs for each benchmark, 1 to 10,000 (21)
      --only TEXT only benchmarks whose names hold TEXT
      --list      the names, and nothing measured
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": wantsJSON = true
      case "--list": wantsList = true
      case "--help", "-h": wantsHelp = true
      case "--only":
        guard let text = rest.popFirst() else { throw UsageError("--only needs a text") }
        only = text
      case "--rounds": rounds = try rest.takeNumber(for: argument, in: 1...10_000)
      default: throw UsageError("unknown argument: \(argument)")
      }
    }
  }
}
