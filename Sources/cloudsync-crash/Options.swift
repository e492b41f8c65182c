import CommandLineKit
import Foundation

/// What the command line asks for.
struct Options {
  /// What to run, in this order.
  var programmes = Programme.allCases
  /// How many scenarios the state store has in `images`; the server has a part of it.
  var seeds = 300
  /// How many times more scenarios the state store has: the server's cost a hundred times as much.
  static let serverShare = 40
  /// The first of them.
  var first: UInt64 = 0
  /// How many processes are killed.
  var kills = 2_000
  /// How many edits of several bytes are made in `damage`.
  var edits = 1_000_000
  /// How many things run at once.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// Whether to end at the first scenario that loses something; `images` and `failures` only.
  var endsAtViolation = false
  /// Whether the usage is wanted.
  var wantsHelp = false

  static let usage = """
    usage: cloudsync-crash [PROGRAMME...] [--seeds N] [--from S] [--kills N] [--edits N] [--jobs J]
           cloudsync-crash images|failures... --until-violation [--seeds N] [--from S]

    Programmes, all of them when none is named:
      images    cuts the power behind every call of a simulated disk, and opens what is left
      failures  has every call of a simulated disk fail, once and for ever
      damage    changes bits, lengths and sectors of what is stored; nothing of it may go unseen
      kills     kills processes that write, and looks for what they said was safe
      calls     kills processes in the midst of a system call, or has the call fail (with strace)
      limits    fills a small disk (as root), and gives processes short files and few descriptors
    --seeds N   how many scenarios (300)
    --from S    the first one (0)
    --kills N   how many processes are killed (2000)
    --edits N   how many edits of several bytes (1000000)
    --jobs J    how much runs at once, 1 to 64 (one for each core)
    --until-violation  end at the first scenario that loses something; it is said before it begins
    Ends with 0 when nothing was lost, 1 when something was, 2 for a wrong command line.
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    var named: [Programme] = []
    while let argument = rest.popFirst() {
      switch argument {
      case "--seeds": seeds = try rest.takeNumber(for: argument, in: 1...1_000_000)
      case "--from": first = try rest.takeNumber(for: argument, in: 0...UInt64(Int64.max))
      case "--kills": kills = try rest.takeNumber(for: argument, in: 1...1_000_000)
      case "--edits": edits = try rest.takeNumber(for: argument, in: 1...1_000_000_000)
      case "--jobs": jobs = try rest.takeNumber(for: argument, in: 1...64)
      case "--until-violation": endsAtViolation = true
      case "--help", "-h": wantsHelp = true
      default:
        guard let programme = Programme(rawValue: argument) else {
          throw UsageError("unknown argument: \(argument)")
        }
        named.append(programme)
      }
    }
    if !named.isEmpty { programmes = named }
    if endsAtViolation, named.isEmpty || named.contains(where: { !$0.hasScenarios }) {
      throw UsageError("--until-violation is for images and failures, which have scenarios")
    }
  }
}
