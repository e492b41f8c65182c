import Foundation

/// What the command line asks for.
struct Options {
  /// For how many seconds devices write.
  var seconds = 300
  /// How many devices, the first half of one account and the second half of another.
  var devices = 8
  /// After how many seconds the server is killed, again and again; 0 for never.
  var killEvery = 10
  /// What decides who writes what.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
  /// A fault to build in, which must be found.
  var bug: PlantedBug?
  /// Whether the usage is wanted.
  var wantsHelp = false

  /// What can be built in.
  enum PlantedBug: String, CaseIterable {
    /// After the second kill the server's file is what it was after the first.
    case rollback
  }

  static let usage = """
    usage: cloudsync-soak [--seconds N] [--devices N] [--kill-every N] [--seed S] [--bug NAME]

    Devices of two accounts write to one server over HTTP while that is killed again and again;
    then everything that was acknowledged must be there, once, and on all of them.
      --seconds N     for how long they write, 1 to 86,400 (300)
      --devices N     how many devices, 2 to 64, an even number (8)
      --kill-every N  after how many seconds the server is killed, 0 for never (10)
      --seed S        what decides who writes what (random)
      --bug NAME      build a fault in: rollback
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--seconds": seconds = Int(try Self.number(&rest, argument, in: 1...86_400))
      case "--devices":
        devices = Int(try Self.number(&rest, argument, in: 2...64))
        if devices % 2 != 0 { throw UsageError("--devices needs an even number") }
      case "--kill-every": killEvery = Int(try Self.number(&rest, argument, in: 0...86_400))
      case "--seed": seed = try Self.number(&rest, argument, in: 0...UInt64(Int64.max))
      case "--bug":
        guard let bug = rest.popFirst().flatMap({ PlantedBug(rawValue: $0) }) else {
          throw UsageError("--bug needs the name of one: rollback")
        }
        self.bug = bug
      case "--help", "-h": wantsHelp = true
      default: throw UsageError("unknown argument: \(argument)")
      }
    }
  }

  private static func number(
    _ rest: inout ArraySlice<String>, _ argument: String, in range: ClosedRange<UInt64>
  ) throws(UsageError) -> UInt64 {
    guard let number = rest.popFirst().flatMap({ UInt64($0) }), range.contains(number) else {
      throw UsageError(
        "\(argument) needs a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

/// A command line that makes no sense.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Something without which the soak can't go on.
struct SoakError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
