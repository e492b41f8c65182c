import CommandLineKit
package import VerificationSupport

/// The command `soak` of the verification tool.
package let soakCommand: any VerificationCommand.Type = SoakCommand.self

/// Lets devices write to a server that is killed again and again, and says what was found.
enum SoakCommand: VerificationCommand {
  static let name = "soak"
  static let summary = "devices write to a server that is killed again and again"
  static let usage = helpText(PackageResources.help_txt)

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    var options = try Options(&arguments)
    guard let rounds = options.rounds else { return try await Run(options).run() }
    for _ in 0..<rounds {
      say("world \(options.seed)")
      guard try await Run(options).run() else { return false }
      options.seed += 1
    }
    return true
  }

  static func runChild(_ words: [String]) async throws -> Int32? {
    guard words.first == "server", words.count == 2 else { return nil }
    try await ServerChild.serve(words[1])
    return 0
  }
}
