import CommandLineKit
package import VerificationSupport

/// The command `siege` of the verification tool.
package let siegeCommand: any VerificationCommand.Type = SiegeCommand.self

/// Runs hostile or slow clients against a server.
enum SiegeCommand: VerificationCommand {
  static let name = "siege"
  static let summary = "hostile and slow clients of the HTTP server"
  static let usage = helpText(PackageResources.help_txt)
    .replacing("LEVELS", with: HostileRequests.levels.joined(separator: ", "))

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
