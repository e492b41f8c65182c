import CommandLineKit

/// The texts of `--help`.
enum Help {
  /// The overview.
  static var overview: String {
    let commands =
      ToolCommand.all.map { ($0.title, $0.summary) } + [
        ("help server", "how to sync with an HTTP server"), ("man", "print the manual page"),
        ("help COMMAND", "more about a command; so does COMMAND --help"),
      ]
    return """
      Usage: stores [--home DIR] [--device NAME] [--account NAME] [--server URL] [--json] COMMAND

      Runs example apps on a sync engine, with several devices and accounts on one machine.

      Commands
      \(columns(commands, width: 17))

      Options
        --home DIR       the folder of server and devices: CLOUDSYNC_HOME, else ~/.cloudsync
        --device NAME    the device to act as; "default" unless given
        --account NAME   the account a new device signs in as; "default" unless given
        --server URL     the server: CLOUDSYNC_SERVER, else a file of the home folder
        --json           print the result as one JSON document
        --color WHEN     auto, always or never; NO_COLOR turns colors off, too

      Each call acts as one device. Changes are stored on the device until it syncs:
        stores --device phone tabs add Ideas --text "Buy milk"
        stores --device phone tabs sync
        stores --device desk tabs sync
        stores --device desk tabs list

      """
  }

  /// The help of a store: its verbs and notes.
  static func text(_ store: Store) -> String {
    let verbs = store.verbs.map { ($0.usage.text, $0.summary) }
    let notes = store.notes.isEmpty ? "" : "\n\(store.notes)\n"
    return """
      Usage: stores \(store.name) VERB

      \(store.summary.prefix(1).uppercased() + store.summary.dropFirst()).

      \(columns(verbs, width: 26))
      \(notes)
      """
  }

  /// The help about `topic`, or the overview.
  static func text(_ topic: String?) throws(UsageError) -> String {
    guard let topic, topic != "help" else { return overview }
    if topic == "server" { return server }
    guard let command = ToolCommand.all.first(where: { $0.name == topic }) else {
      throw UsageError(
        "there is no help about \(quoted(topic))"
          + suggestion(for: topic, of: ToolCommand.all.map(\.name) + ["server"]))
    }
    return command.help
  }

  /// The manual page.
  static var manual: String {
    ManualPage.text(
      "stores", "example apps on a sync engine", overview: overview,
      topics: ToolCommand.all.map { (name: $0.name, text: $0.help) } + [("help server", server)])
  }

  /// Two columns; a text that is too wide for the first column gets a separate line.
  private static func columns(_ rows: [(String, String)], width: Int) -> String {
    let gap = String(repeating: " ", count: width + 2)
    return rows.map { first, second in
      let lines = second.split(separator: "\n").joined(separator: "\n" + gap)
      let isWide = first.count > width - 2
      return "  " + first + (isWide ? "\n" + gap : String(gap.dropFirst(first.count + 2))) + lines
    }.joined(separator: "\n")
  }

  private static let server = """
    Usage: stores --server URL --api-token T (--control-token T | --web-token T) COMMAND

    Every command syncs with the HTTP server at URL. Each option can also be set in the environment;
    cloudsync exec sets all variables for the command it runs:

      --server URL          CLOUDSYNC_SERVER          the address of the server
      --api-token T         CLOUDSYNC_API_TOKEN       the token of the app
      --control-token T     CLOUDSYNC_CONTROL_TOKEN   the token that signs in any account
      --web-token T         CLOUDSYNC_WEB_AUTH_TOKEN  the token of one account; used if there is no
                                                      control token
      --account NAME        CLOUDSYNC_ACCOUNT         the account a new device signs in as
                            CLOUDSYNC_CONTAINER       the container, if the tokens are for one only

    Other users of the machine can read a command line, but not the environment.
    The home folder has separate devices for each server, identified by its API token.

      cloudsync exec -- stores sync
      cloudsync exec --fault-control -- stores demo

    """
}
