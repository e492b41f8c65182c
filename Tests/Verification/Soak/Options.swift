import CommandLineKit
import VerificationSupport

/// The options of the command line.
struct Options {
  /// For how many seconds devices write.
  var seconds = 300
  /// The number of devices; each half belongs to one account.
  var devices = 8
  /// The seconds between two interruptions; 0 for never.
  var killEvery = 10
  /// The number of servers that share the data.
  var servers = 1
  /// The address of a PostgreSQL database for the data; `nil` for a file.
  var database: String?
  /// What is interrupted, in turn.
  var interruptions: [Interruption] = [.server]
  /// For how many seconds PostgreSQL stands still; more than a server waits for it.
  var stall = 3
  /// For how many seconds a server waits for PostgreSQL.
  var patience = 2
  /// How far the clock of a server may be off, in seconds; it changes with each start.
  var skew = 0
  /// The seed of the devices' actions.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
  /// The number of rounds, each with the next seed; all of them without figures that only show
  /// when no device is there, and only until one finds a violation.
  var rounds: Int?
  /// A fault to build in, which must be found.
  var bug: PlantedBug?
  /// The faults that can be built in.
  enum PlantedBug: String, CaseIterable {
    /// After the second kill the server's file is what it was after the first.
    case rollback
  }

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seconds = try arguments.number("seconds", in: 1...86_400) ?? seconds
    devices = try arguments.number("devices", in: 2...64) ?? devices
    if devices % 2 != 0 { throw UsageError("--devices needs an even number") }
    killEvery = try arguments.number("kill-every", in: 0...86_400) ?? killEvery
    seed = try arguments.seed("seed") ?? seed
    rounds = try arguments.number("seeds", in: 1...1_000_000)
    if let first = try arguments.seed("from") { seed = first }
    _ = arguments.flag("until-violation")
    bug = try arguments.choice("bug", of: PlantedBug.self)
    servers = try arguments.number("servers", in: 1...16) ?? servers
    database = arguments.value("data")
    stall = try arguments.number("stall", in: 1...600) ?? stall
    patience = try arguments.number("patience", in: 1...600) ?? patience
    skew = try arguments.number("skew", in: 0...86_400) ?? skew
    let names = arguments.value("interrupt")?.split(separator: ",").map(String.init) ?? []
    if names == ["all"] {
      interruptions = Interruption.allCases
    } else if !names.isEmpty {
      interruptions = try names.map { name throws(UsageError) in
        guard let one = Interruption(rawValue: name) else {
          let all = Interruption.allCases.map(\.rawValue).joined(separator: ", ")
          throw UsageError("--interrupt needs some of \(all)")
        }
        return one
      }
    }
    if database == nil, servers > 1 || interruptions != [.server] {
      throw UsageError("several servers and other interruptions need --data")
    }
    try arguments.end()
  }
}
