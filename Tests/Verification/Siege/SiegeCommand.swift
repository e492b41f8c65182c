import CommandLineKit
package import VerificationSupport

/// The command `siege` of the verification tool.
package let siegeCommand: any VerificationCommand.Type = SiegeCommand.self

/// Runs hostile or slow clients against a server.
enum SiegeCommand: VerificationCommand {
  static let name = "siege"
  static let summary = "hostile and slow clients of the HTTP server"
  static var usage: String {
    """
    usage: cloudsync-verify siege hostile [--requests N] [--seed S] [--storage memory|file] [--level L]
           cloudsync-verify siege slow [--connections N] [--seconds T] [--storage memory|file]

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
  }

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    let options = try Options(&arguments)
    return switch options.programme {
    case .hostile: try await HostileSiege(options).run()
    case .slow: try await SlowSiege(options).run()
    }
  }

  static func runChild(_ words: [String]) async throws -> Int32? {
    guard words.first == "server" else { return nil }
    try await TestedServer.serve(path: words.dropFirst().first)
    return 0
  }
}
