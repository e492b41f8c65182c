import CommandLineKit
package import VerificationSupport

/// The command `soak` of the verification tool.
package let soakCommand: any VerificationCommand.Type = SoakCommand.self

/// Lets devices write to a server that is killed again and again, and says what was found.
enum SoakCommand: VerificationCommand {
  static let name = "soak"
  static let summary = "devices write to a server that is killed again and again"
  static let usage = """
    usage: cloudsync-verify soak [--seconds N] [--devices N] [--kill-every N] [--seed S] [--bug NAME]

    Devices of two accounts write to one server over HTTP while that is killed again and again;
    then everything that was acknowledged must be there, once, and on all of them.
      --seconds N     for how long they write, 1 to 86,400 (300)
      --devices N     how many devices, 2 to 64, an even number (8)
      --kill-every N  after how many seconds the server is killed, 0 for never (10)
      --seed S        what decides who writes what (random)
      --bug NAME      build a fault in: rollback
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    try await Run(Options(&arguments)).run()
  }

  static func runChild(_ words: [String]) async throws -> Int32? {
    guard words.first == "server", words.count == 3, let port = Int(words[1]) else { return nil }
    try await ServerChild.serve(port: port, path: words[2])
    return 0
  }
}
