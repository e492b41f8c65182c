import CommandLineKit

/// One call of the tool, while a command is carried out.
struct Invocation: Sendable {
  /// Where everything is kept.
  let home: Home
  /// The device to act as.
  let device: String
  /// The account that was asked for.
  let account: String?
  /// Where words go.
  let output: Output

  /// Opens the device and keeps others from it until `body` is done.
  func withSession<Result>(
    _ body: (Session) async throws -> Result
  ) async throws -> Result {
    let session = try await Session(home, device: device, account: account) { output.note($0) }
    // Whatever `body` takes out of the session is only good while the device is locked.
    defer { withExtendedLifetime(session) {} }
    return try await body(session)
  }
}

/// What holds for every command.
struct GlobalOptions: Hashable {
  /// How these options are given.
  static let usage = UsageLine(
    "[--home DIR] [--device NAME] [--account NAME] [--server URL] [--api-token T] "
      + "[--web-token T] [--control-token T] [--json] [--color auto|always|never] [--help]")

  var home: String?
  var device: String?
  var account: String?
  var server: String?
  var apiToken: String?
  var webToken: String?
  var controlToken: String?
  var isJSON = false
  var colors = Terminal.Colors.auto
  var wantsHelp = false

  /// None given.
  init() {}

  /// Takes the options that hold for every command.
  init(_ arguments: inout Arguments) throws(UsageError) {
    home = arguments.value("home")
    device = arguments.value("device")
    account = arguments.value("account")
    server = arguments.value("server")
    apiToken = arguments.value("api-token")
    webToken = arguments.value("web-token")
    controlToken = arguments.value("control-token")
    isJSON = arguments.flag("json")
    if let word = arguments.value("color") {
      guard let colors = Terminal.Colors(rawValue: word) else {
        throw UsageError("--color is auto, always or never, not \(quoted(word))")
      }
      self.colors = colors
    }
    wantsHelp = arguments.flag("help")
  }
}
