import CommandLineKit

/// The texts of `help`.
enum Help {
  /// The overview.
  static let overview = """
    Usage: cloudsync COMMAND [OPTIONS]

    A server on this machine that speaks CloudKit Web Services: start, use, break and inspect it.

    Commands
      serve            start a server and leave it running
      exec -- COMMAND  start a server, run a command beside it, stop it
      inspect          show accounts, databases, zones, records, changes, requests
      watch            show what happens while it happens
      faults           let things go wrong, and put them right again
      export           write everything as one file of text
      import FILE      read such a file into an empty server
      reset --yes      remove everything
      state            show or compare the saved state of a sync engine
      trace FILE       show what a sync engine did, as a timeline
      help COMMAND     more about a command; so does COMMAND --help

    Options of all commands
      --json           print JSON instead of words
      --help, --version

    A first look:
      cloudsync exec -- sh -c 'echo $CLOUDSYNC_SERVER && cloudsync inspect'

    """

  private static let serverOptions = """
      --port N             the port of 127.0.0.1; any free one unless given
      --data FILE          keep everything in FILE; in memory unless given
      --account NAME       make an account and a web token for it; may be repeated;
                           "\(ServerOptions.defaultAccount)" unless given
      --container ID       tokens for this container only
      --fault-control      let faults be set up while it runs
      --allow-origin URL   let pages of URL use the server; may be repeated
    """

  private static let addressing = """
    The server is one that runs, or the file of one:
      --server URL         unless given: CLOUDSYNC_SERVER
      --control-token T    unless given: CLOUDSYNC_CONTROL_TOKEN, which no process list shows
      --data FILE          a server's file, whether it runs or not
    """

  /// The help of each command.
  static let topics: [String: String] = [
    "serve": """
    Usage: cloudsync serve [OPTIONS]

    Starts a server and prints its address, its tokens and its console, then "ready". It runs
    until it is interrupted or told to stop; a second signal ends it at once.

    \(serverOptions)
      --json               print one JSON object on one line, with "ready":true

    The control token is random unless CLOUDSYNC_CONTROL_TOKEN holds one.

    """,
    "exec": """
    Usage: cloudsync exec [OPTIONS] -- COMMAND [ARGUMENTS]

    Starts a server on a free port, runs COMMAND with the server's address in its environment,
    stops the server, and ends as COMMAND did: with its exit code, or 128 and the number of the
    signal that killed it; with 127 when there is no such command.

    \(serverOptions)

    The command's environment:
      CLOUDSYNC_SERVER          the server's address
      CLOUDSYNC_API_TOKEN       stands for the app
      CLOUDSYNC_ACCOUNT         the first account
      CLOUDSYNC_WEB_AUTH_TOKEN  stands for that account
      CLOUDSYNC_CONTROL_TOKEN   lets in to inspect, watch, faults, export, import and reset
      CLOUDSYNC_CONTAINER       the container, where one was named

    """,
    "inspect": """
    Usage: cloudsync inspect [SUBJECT] [OPTIONS]

    Shows what a server holds, past all faults; without a subject, a summary.

    Subjects
      accounts, databases
      zones, subscriptions     of a database
      records, changes         of a zone
      devices, requests        of a server that runs

    A database is named by these; what there is only one of may be left out:
      --container ID           unless given: CLOUDSYNC_CONTAINER
      --account NAME           the private database of an account, or
      --public                 the public one
      --environment WORD       development or production
      --zone NAME

      --limit N                the most entries to show, of changes and requests the latest;
                               200 unless given; all for all
      --after X                begin behind the record X, or the change or request of number X

    \(addressing)

    """,
    "watch": """
    Usage: cloudsync watch [OPTIONS]

    Prints requests, pushes and what an administrator does while it happens, until interrupted;
    with --json one JSON object a line. Needs a server that runs:
      --server URL         unless given: CLOUDSYNC_SERVER
      --control-token T    unless given: CLOUDSYNC_CONTROL_TOKEN

    """,
    "faults": """
    Usage: cloudsync faults [list | clear] [OPTIONS]
           cloudsync faults add ACTION [NAME=VALUE]... [OPTIONS]

    Lets things go wrong on a server that was started with --fault-control.

      fail code=C              the next request fails; C such as zoneBusy
      drop-answers             the next request is carried out, its answer is lost
      delay seconds=S          the next request waits
      hold, release            requests stand still until they are released
        for these: count=N     so many requests
                   kind=K      only these requests, such as modifyRecords
                   device=D    only this device's
      drop-pushes count=N device=D
      hold-pushes, release-pushes
      device device=D online=false
      device device=D availability=restricted
      limits itemsPerRequest=N, or another limit that list --json shows
      quota account=A bytes=N
      delete-zone, purge-zone, reset-encrypted-data   container=C account=A zone=Z
      expire-tokens, trim-tombstones                  container=C account=A
      erase-data                                      container=C account=A
      forget-requests

      --server URL             unless given: CLOUDSYNC_SERVER
      --control-token T        unless given: CLOUDSYNC_CONTROL_TOKEN

    """,
    "export": """
    Usage: cloudsync export [--output FILE] [OPTIONS]

    Writes everything a server holds as one text: a line of JSON for each account, zone, record
    and file. The text opens all data, so FILE can be read by its owner only.

    \(addressing)

    """,
    "import": """
    Usage: cloudsync import FILE [OPTIONS]

    Puts an archive into a server that is empty, all of it or nothing; - reads standard input.
    With --data FILE a file that is missing is made. A server that runs takes up to 64 MiB.

    \(addressing)

    """,
    "reset": """
    Usage: cloudsync reset --yes [OPTIONS]

    Removes everything a server holds. It becomes another server to its devices.

    \(addressing)

    """,
    "state": """
    Usage: cloudsync state show FILE [--limit N] [--member NAME] [--json]
           cloudsync state diff OLD NEW [--member NAME] [--json]

    Shows the saved state of a sync engine, or how two differ. FILE is a state log, an encoded
    state, or any JSON or property list that holds one; it is only read, also while an engine
    uses it.

      --limit N        the most entries of each list to show; 20 unless given
      --member NAME    which state, where a file holds several

    diff ends with 0 when both are equal, 1 when they differ, 2 when one can't be read.

    """,
    "trace": """
    Usage: cloudsync trace FILE [--json]

    Shows what a sync engine did and decided, in the order of time. FILE is what the engine's
    tracer wrote, one JSON object a line; see JSONLinesTracer. It holds numbers and kinds, and no
    name of a record or an account. A line that was cut off is left out.

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
