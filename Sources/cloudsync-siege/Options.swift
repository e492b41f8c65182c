/// What the command line asks for.
struct Options {
  /// What is to be done.
  enum Programme: String {
    case hostile
    case slow
    case server
  }

  /// Where the besieged server keeps its data.
  enum Storage: String {
    case memory
    case file
  }

  var programme: Programme?
  /// How many hostile requests.
  var requests = 1_000_000
  /// What decides them.
  var seed: UInt64 = 1
  /// The one level of hostile requests to send; `nil` for all.
  var level: String?
  /// How many slow connections.
  var connections = 1000
  /// For how many seconds they besiege.
  var seconds = 60
  var storage = Storage.memory
  /// The file of the server's own programme.
  var path: String?

  static let usage = """
    usage: cloudsync-siege hostile [--requests N] [--seed S] [--storage memory|file] [--level L]
           cloudsync-siege slow [--connections N] [--seconds T] [--storage memory|file]

    Besieges a server of its own, which runs as another process, and looks whether it stands.
      hostile  random requests that break every rule: the server must live on, keep its secrets,
               give back its descriptors and its memory, and serve others rightly
      slow     clients that send and read slowly: others must not notice
      --requests N     how many requests, 1000 to 1,000,000,000 (1000000)
      --seed S         what decides them (1)
      --level L        one level only: \(HostileRequests.levels.joined(separator: ", "))
      --connections N  how many slow connections, 10 to 2000 (1000)
      --seconds T      how long they besiege, 5 to 3600 (60)
      --storage KIND   where the server keeps its data (memory)
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  /// Reads the arguments after the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--requests": requests = try Self.number(&rest, argument, in: 1000...1_000_000_000)
      case "--seed": seed = UInt64(try Self.number(&rest, argument, in: 0...Int.max))
      case "--connections": connections = try Self.number(&rest, argument, in: 10...2000)
      case "--seconds": seconds = try Self.number(&rest, argument, in: 5...3600)
      case "--storage":
        guard let storage = Storage(rawValue: rest.popFirst() ?? "") else {
          throw UsageError("--storage needs memory or file")
        }
        self.storage = storage
      case "--level":
        guard let name = rest.popFirst(), HostileRequests.levels.contains(name) else {
          throw UsageError(
            "--level needs one of " + HostileRequests.levels.joined(separator: ", "))
        }
        level = name
      case "--path": path = rest.popFirst()
      case "--help", "-h":
        programme = nil
        return
      default:
        guard programme == nil, let named = Programme(rawValue: argument) else {
          throw UsageError("unknown argument: \(argument)")
        }
        programme = named
      }
    }
    if programme == nil { throw UsageError("name a programme: hostile or slow") }
  }

  private static func number(
    _ rest: inout ArraySlice<String>, _ argument: String, in range: ClosedRange<Int>
  ) throws(UsageError) -> Int {
    guard let number = rest.popFirst().flatMap({ Int($0) }), range.contains(number) else {
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
