import CommandLineKit

/// One call of the tool, while its command runs.
struct Invocation: Sendable {
  let home: Home
  let device: String
  /// The account given on the command line.
  let account: String?
  /// Where results and messages go.
  let output: Output
}

/// The options of every command.
struct GlobalOptions: Hashable {
  static let usage = UsageLine(
    "[--home DIR] [--device DEVICE] [--account ACCOUNT] [--server URL] [--api-token T] "
      + "[--web-token T] [--control-token T] [--json] [--color auto|always|never] [--help] "
      + "[--version]")

  private var values: [String: String]
  private(set) var isJSON = false
  private(set) var colors = Terminal.Colors.auto
  private(set) var wantsHelp = false
  private(set) var wantsVersion = false

  /// The options with the values given, by name.
  init(_ values: [String: String]) { self.values = values }

  init(_ arguments: inout Arguments) throws(UsageError) {
    values = [:]
    for option in Self.usage.options where option.value != nil {
      values[option.name] = arguments.value(option.name)
    }
    isJSON = arguments.flag("json")
    if let word = self["color"] {
      guard let colors = Terminal.Colors(rawValue: word) else {
        throw UsageError("--color is auto, always or never, not \(quoted(word))")
      }
      self.colors = colors
    }
    wantsHelp = arguments.flag("help")
    wantsVersion = arguments.flag("version")
  }

  subscript(_ name: String) -> String? { values[name] }
}
