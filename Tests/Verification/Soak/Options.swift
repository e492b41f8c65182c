import CommandLineKit
import VerificationSupport

/// The options of the command line.
struct Options {
  /// For how many seconds devices write.
  var seconds = 300
  /// The number of devices; each half belongs to one account.
  var devices = 8
  /// After how many seconds the server is killed, again and again; 0 for never.
  var killEvery = 10
  /// The seed of the devices' actions.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
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
    bug = try arguments.choice("bug", of: PlantedBug.self)
    try arguments.end()
  }
}
