import CommandLineKit

/// The texts of `help`.
enum Help {
  /// The overview.
  static let overview = """
    Usage: cloudsync COMMAND [OPTIONS]

    A server on this machine that speaks CloudKit Web Services: run it, inspect it, inject faults.

    Commands
      serve            start a server and leave it running
      exec -- COMMAND  start a server, run a command, stop the server
      inspect          show accounts, databases, zones, records, changes, requests
      watch            show requests, pushes and other events as they occur
      faults           list, add and clear injected faults
      export           write all data to a text file
      import FILE      import an exported file into an empty server
      reset --yes      remove all data
      state            show or compare the saved state of a sync engine
      trace FILE       show what a sync engine did, as a timeline
      help COMMAND     more about a command; so does COMMAND --help

    Options of all commands
      --json           print JSON instead of text
      --help, --version

    A first look:
      cloudsync exec -- sh -c 'echo $CLOUDSYNC_SERVER && cloudsync inspect'

    """

  private static let serverOptions = """
      --port N             the port of 127.0.0.1; default: any free port
      --data FILE          store the data in FILE; default: in memory
      --account NAME       create an account and a web token; repeatable;
                           default: "\(ServerOptions.defaultAccount)"
      --container ID       restrict the tokens to this container
      --fault-control      allow fault injection while the server runs
      --allow-origin URL   allow web pages of URL to use the server; repeatable
    """

  private static let addressing = """
    The server is a running server or a server's file:
      --server URL         default: CLOUDSYNC_SERVER
      --control-token T    default: CLOUDSYNC_CONTROL_TOKEN, which process lists don't show
      --data FILE          a server's file, even while a server uses it
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
    stops the server, and exits like COMMAND: with its exit code, or 128 plus the number of the
    signal that killed it; with 127 if the command does not exist.

    \(serverOptions)

    The command's environment:
      CLOUDSYNC_SERVER          the server's address
      CLOUDSYNC_API_TOKEN       the API token
      CLOUDSYNC_ACCOUNT         the first account
      CLOUDSYNC_WEB_AUTH_TOKEN  the web token of that account
      CLOUDSYNC_CONTROL_TOKEN   the token for inspect, watch, faults, export, import and reset
      CLOUDSYNC_CONTAINER       the container, if one was given

    """,
    "inspect": """
    Usage: cloudsync inspect [SUBJECT] [OPTIONS]

    Shows the contents of a server, unaffected by faults; without a subject, a summary.

    Subjects
      accounts, databases
      zones, subscriptions     of a database
      records, changes         of a zone
      devices, requests        of a running server

    These options select a database; omit those for which there is only one choice:
      --container ID           default: CLOUDSYNC_CONTAINER
      --account NAME           the private database of an account, or
      --public                 the public one
      --environment WORD       development or production
      --zone NAME

      --limit N                the maximum number of entries, the latest for changes and
                               requests; default: 200; "all" shows all
      --after X                start after the record X, or the change or request with number X

    \(addressing)

    """,
    "watch": """
    Usage: cloudsync watch [OPTIONS]

    Prints requests, pushes and administrative changes as they occur, until interrupted;
    with --json one JSON object per line. Needs a running server:
      --server URL         default: CLOUDSYNC_SERVER
      --control-token T    default: CLOUDSYNC_CONTROL_TOKEN

    """,
    "faults": """
    Usage: cloudsync faults [list | clear] [OPTIONS]
           cloudsync faults add ACTION [NAME=VALUE]... [OPTIONS]

    Injects faults into a server that was started with --fault-control.

      fail code=C              the next request fails; C such as zoneBusy
      drop-answers             the next request is carried out, its response is lost
      delay seconds=S          the next request is delayed
      hold, release            requests are held until they are released
        for these: count=N     the number of requests
                   kind=K      only these requests, such as modifyRecords
                   device=D    only requests of this device
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

      --server URL             default: CLOUDSYNC_SERVER
      --control-token T        unless given: CLOUDSYNC_CONTROL_TOKEN

    """,
    "export": """
    Usage: cloudsync export [--output FILE] [OPTIONS]

    Writes all data of a server as one text: a line of JSON for each account, zone, record
    and file. The text discloses all data, so FILE is readable by its owner only.

    \(addressing)

    """,
    "import": """
    Usage: cloudsync import FILE [OPTIONS]

    Imports an archive into an empty server, completely or not at all; - reads standard input.
    With --data FILE a missing file is created. A running server accepts up to 64 MiB.

    \(addressing)

    """,
    "reset": """
    Usage: cloudsync reset --yes [OPTIONS]

    Removes all data of a server. Its devices then see a new server.

    \(addressing)

    """,
    "state": """
    Usage: cloudsync state show FILE [--limit N] [--member NAME] [--json]
           cloudsync state diff OLD NEW [--member NAME] [--json]

    Shows the saved state of a sync engine, or how two differ. FILE is a state log, an encoded
    state, or any JSON or property list that contains one. It is only read, even while an engine
    uses it.

      --limit N        the maximum number of entries of each list; default: 20
      --member NAME    the state to show if a file contains several

    diff exits with 0 if both are equal, 1 if they differ, 2 if one cannot be read.

    """,
    "trace": """
    Usage: cloudsync trace FILE [--json]

    Shows what a sync engine did and decided, in chronological order. FILE is the output of the
    engine's tracer, one JSON object per line; see JSONLinesTracer. It contains numbers and kinds,
    but no names of records or accounts. A truncated line is omitted.

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
