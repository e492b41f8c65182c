import CommandLineKit

/// The texts of `--help`.
enum Help {
  /// The overview.
  static var overview: String {
    let commands =
      ToolCommand.all.map { ($0.title, $0.summary) } + [
        ("help server", "how to sync with a server by HTTP instead"),
        ("help COMMAND", "more about a command; so does COMMAND --help"),
      ]
    return """
      Usage: stores [--home DIR] [--device NAME] [--account NAME] [--server URL] [--json] COMMAND

      Example apps on a sync engine, each with devices and accounts of its own making.

      Commands
      \(columns(commands, width: 17))

      Options
        --home DIR       where server and devices are kept: CLOUDSYNC_HOME, else ~/.cloudsync
        --device NAME    the device to act as; "default" unless given
        --account NAME   the account a new device signs in as; "default" unless given
        --server URL     sync with this server: CLOUDSYNC_SERVER, else a file of the home folder
        --json           print one JSON document instead of words
        --color WHEN     auto, always or never; NO_COLOR turns colours off too

      Each call acts as one device. Changes are kept on the device until it syncs:
        stores --device phone tabs add Ideas --text "Buy milk"
        stores --device phone tabs sync
        stores --device desk tabs sync
        stores --device desk tabs list

      """
  }

  /// The help of a store: its verbs, and what there is to say about them.
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
          + hint(topic, ToolCommand.all.map(\.name) + ["server"]))
    }
    return command.help
  }

  /// Two columns; what is too wide for the first has a line of its own.
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

    Every command syncs with the server at URL by HTTP. What the options say, the environment can
    say; cloudsync exec sets all of it for the command it runs:

      --server URL          CLOUDSYNC_SERVER          where the server is
      --api-token T         CLOUDSYNC_API_TOKEN       lets the app in
      --control-token T     CLOUDSYNC_CONTROL_TOKEN   signs any account in
      --web-token T         CLOUDSYNC_WEB_AUTH_TOKEN  stands for one account; used when there is no
                                                      control token
      --account NAME        CLOUDSYNC_ACCOUNT         the account a new device signs in as
                            CLOUDSYNC_CONTAINER       the container, where tokens are for one only

    A command line can be read by other users of the machine; the environment can not.
    Each server has devices of its own in the home folder, known by its API token.

      cloudsync exec -- stores sync
      cloudsync exec --fault-control -- stores demo

    """
}
