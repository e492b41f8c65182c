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
    try await Run(Options(&arguments)).run()
  }

  static func runChild(_ words: [String]) async throws -> Int32? {
    guard words.first == "server", words.count == 3, let port = Int(words[1]) else { return nil }
    try await ServerChild.serve(port: port, path: words[2])
    return 0
  }
}
