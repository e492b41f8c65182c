import CommandLineKit

/// What the command line asks for.
struct Options {
  /// Whether to print JSON instead of a table.
  var wantsJSON = false
  /// Whether only the names are wanted.
  var wantsList = false
  /// Whether the whole job is wanted at three sizes, and nothing else.
  var wantsScale = false
  /// Whether the usage is wanted.
  var wantsHelp = false
  /// How many pairs of each benchmark at most, 1 to 10,000.
  var rounds = 7
  /// Only these rows, such as `P10`, or benchmarks whose names hold one of these texts.
  var only: [String] = []
  /// Whether sides are timed by the processor time they take.
  var timesProcessor = false
  /// The folder that `bench.json` and `bench.svg` are written to.
  var folder: String?

  static let usage = """
    usage: cloudsync-bench [--json] [--rounds N] [--only P1,TEXT] [--write FOLDER]
                           [--processor] [--list]
           cloudsync-bench --scale

    Prints what things cost as ratios of two measurements taken in turn, each as it is known.
      --json          one JSON document; times in nanoseconds for one operation
      --rounds N      pairs for each benchmark at most, 1 to 10,000 (7)
      --only LIST     only these rows, such as P10, or names that hold a text; with commas
      --write FOLDER  bench.json and bench.svg into this folder
      --processor     processor time instead of time, where other work keeps the machine busy
      --list          the names, and nothing measured
      --scale         times instead of ratios: 10,000, 100,000 and 1,000,000 records from one
                      device to another, in every place; takes some minutes
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": wantsJSON = true
      case "--processor": timesProcessor = true
      case "--list": wantsList = true
      case "--scale": wantsScale = true
      case "--help", "-h": wantsHelp = true
      case "--only":
        guard let text = rest.popFirst() else { throw UsageError("--only needs a text") }
        only += text.split(separator: ",").map(String.init)
      case "--write":
        guard let path = rest.popFirst() else { throw UsageError("--write needs a folder") }
        folder = path
      case "--rounds": rounds = try rest.takeNumber(for: argument, in: 1...10_000)
      default: throw UsageError("unknown argument: \(argument)")
      }
    }
  }

  /// Whether a benchmark was asked for.
  func chooses(_ benchmark: Benchmark) -> Bool {
    only.isEmpty
      || only.contains { text in
        Row.isName(text) ? benchmark.row == text : benchmark.name.contains(text)
      }
  }
}

/// The rows of the table of goals, P1 to P19.
enum Row {
  /// Whether `text` is a row's name.
  static func isName(_ text: some StringProtocol) -> Bool {
    text.first == "P" && text.count > 1 && text.dropFirst().allSatisfy(\.isNumber)
  }
}
