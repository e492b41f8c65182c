import CommandLineKit

/// The texts of `--help`.
enum Help {
  /// The overview.
  static let overview = """
    Usage: stores [--home DIR] [--device NAME] [--account NAME] [--server URL] [--json] COMMAND

    Three example apps on a sync engine, each with devices and accounts of its own making.

    Commands
      tabs VERB        scratch tabs of an editor; the newer edit of a tab wins
      clipboard VERB   a clipboard history; entries come and go but never change
      results VERB     results of daily puzzles, from the texts people share
      sync             sync all three stores now
      account          which account the device uses; switch NAME, sign-out
      demo             two devices, two accounts, a conflict, a crash: see it work
      reset            forget the server and all devices of the home folder
      help server      how to sync with a server by HTTP instead
      help COMMAND     more about a command; so does COMMAND --help

    Options
      --home DIR       where server and devices are kept: CLOUDSYNC_HOME, else ~/.cloudsync
      --device NAME    the device to act as; "default" unless given
      --account NAME   the account a new device signs in as; "default" unless given
      --server URL     sync with this server: CLOUDSYNC_SERVER, else a file of the home folder
      --json           print one JSON document instead of words

    Each call acts as one device. Changes are kept on the device until it syncs:
      stores --device phone tabs add Ideas --text "Buy milk"
      stores --device phone tabs sync
      stores --device desk tabs sync
      stores --device desk tabs list

    """

  /// The help of each command.
  static let topics: [String: String] = [
    "tabs": """
    Usage: stores tabs VERB

      add NAME (--text TEXT | --file FILE | -)   open a tab; - reads standard input
      import DIR        open a tab for each text file in a folder; again: take over changes
      import FILE.json  move in what an older app exported: tabs, clipboard, tombstones
      edit ID (--text TEXT | --file FILE | -) [--name NAME]
      language ID LANGUAGE
      close ID
      list
      show ID           print the tab's text
      sync              fetch and send now
      sync on|off       the switch; off forgets the cloud and keeps the tabs
      watch             keep in sync and show what changes, until interrupted;
                        with --json one document a line

    An ID may be shortened as long as it stays unique.

    """,
    "clipboard": """
    Usage: stores clipboard VERB

      add [TEXT | --text TEXT | --file FILE | -]   without a text, reads standard input
      list [--limit N]            newest first
      delete ID
      clear
      prune [--older-than AGE]    AGE such as 90s, 15m, 12h or 7d; 30d unless given
      sync

    At most 1,000 entries are kept; the oldest go first, on every device.

    """,
    "results": """
    Usage: stores results VERB

      add             one share text, on standard input
      import FILE     all share texts in a file
      list [--game GAME]
      streaks [GAME]  computed from the results, never synced
      delete ID
      sync
      status          where sync stands, and what waits

    """,
    "sync": """
    Usage: stores sync

    Fetches and sends now: tabs, clipboard and results.

    """,
    "server": """
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

    """,
    "account": """
    Usage: stores account [switch NAME | sign-out] [--force]

    Without a verb, shows the device's account. Before a device leaves an account it sends what
    waits; then everything of the account is removed from the device. When sending fails,
    nothing happens, unless --force gives up what was not sent.

    """,
    "demo": """
    Usage: stores demo

    Imports this repository's Markdown and Swift files, share texts and a clipboard history on
    two devices and two accounts; shows an offline conflict, an account switch and a crash; and
    compares devices and server byte for byte. Leaves its files in HOME/demo. Ends with 0 when
    nothing differs.

    With a server by HTTP it needs the control token, as two accounts sign in. It uses containers
    of its own there and leaves them. Losing an answer needs a server with --fault-control.

    """,
    "reset": """
    Usage: stores reset [--force]

    Removes the server and all devices of the home folder. Asks on a terminal; elsewhere it
    needs --force. What a server by HTTP holds stays there.

    """,
  ]

  /// The help about `topic`, or the overview.
  static func text(_ topic: String?) throws(UsageError) -> String {
    guard let topic, topic != "help" else { return overview }
    guard let text = topics[topic] else {
      throw UsageError("there is no help about \(quoted(topic))")
    }
    return text
  }
}
