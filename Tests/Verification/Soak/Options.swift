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
  /// The seed of the devices' actions.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
  /// A fault to build in, which must be found.
  var bug: PlantedBug?
  /// The faults that can be built in.
  enum PlantedBug: String, CaseIterable {
    /// After the second kill the server's file is what it was after the first.
    case rollback
  }

  /// What can be interrupted.
  enum Interruption: String, CaseIterable {
    /// A server is killed and started again.
    case server
    /// PostgreSQL ends without saving and is started again.
    case database
    /// PostgreSQL closes all connections.
    case connections
    /// PostgreSQL stands still for a while.
    case stall
    /// PostgreSQL ends without saving, and its standby takes its place.
    case promotion
  }

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seconds = try arguments.number("seconds", in: 1...86_400) ?? seconds
    devices = try arguments.number("devices", in: 2...64) ?? devices
    if devices % 2 != 0 { throw UsageError("--devices needs an even number") }
    killEvery = try arguments.number("kill-every", in: 0...86_400) ?? killEvery
    seed = try arguments.seed("seed") ?? seed
    bug = try arguments.choice("bug", of: PlantedBug.self)
    servers = try arguments.number("servers", in: 1...16) ?? servers
    database = arguments.value("data")
    let names = arguments.value("interrupt")?.split(separator: ",").map(String.init) ?? []
    if !names.isEmpty {
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
