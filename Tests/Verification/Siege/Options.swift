import CommandLineKit
import VerificationSupport

/// The options of the command line.
struct Options {
  /// The kind of clients.
  enum Programme: String {
    case hostile
    case slow
  }

  /// The storage of the server.
  enum Storage: String, CaseIterable {
    case memory
    case file
  }

  var programme: Programme
  /// The number of hostile requests.
  var requests = 1_000_000
  /// The seed of the requests.
  var seed: UInt64 = 1
  /// The one level of hostile requests to send; `nil` for all.
  var level: String?
  /// The number of slow connections.
  var connections = 1000
  /// For how many seconds they besiege.
  var seconds = 60
  var storage = Storage.memory

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    let word = try arguments.word("the programme, hostile or slow,")
    guard let programme = Programme(rawValue: word) else {
      throw UsageError("name a programme: hostile or slow")
    }
    self.programme = programme
    requests = try arguments.number("requests", in: 1000...1_000_000_000) ?? requests
    seed = try arguments.seed("seed") ?? seed
    connections = try arguments.number("connections", in: 10...2000) ?? connections
    seconds = try arguments.number("seconds", in: 5...3600) ?? seconds
    storage = try arguments.choice("storage", of: Storage.self) ?? storage
    level = arguments.value("level")
    if let level, !HostileRequests.levels.contains(level) {
      throw UsageError("--level needs one of " + HostileRequests.levels.joined(separator: ", "))
    }
    try arguments.end()
  }
}
