import CommandLineKit

extension Command {
  /// The options of all commands.
  static let options = Arguments.Options(
    valued: [
      "port", "data", "container", "server", "control-token", "environment", "zone", "limit",
      "output", "member", "scope", "after", "host", "public-url", "import",
      "export-on-exit", "config", "request-log", "faults", "timeout", "name",
    ],
    repeated: ["account", "allow-origin", "allow-host", "trusted-proxy"],
    flags: [
      "json", "help", "version", "fault-control", "public", "yes", "detach",
      "with-secret", "new-identity",
    ])

  /// Parses a command line, without the program's name.
  static func parse(
    _ words: [String], _ environment: [String: String]
  ) throws(UsageError) -> (command: Command, isJSON: Bool) {
    // Find the command first, so that errors can refer to its help.
    let name = words.first { !$0.hasPrefix("-") }
    let topic = name.flatMap { Help.topics[$0] == nil ? nil : $0 }
    do throws(UsageError) {
      var arguments = try Arguments(words, knowing: options, keepsRest: true)
      let isJSON = arguments.flag("json")
      if arguments.flag("help") { return (.help(topic: arguments.word()), false) }
      if arguments.flag("version") { return (.version, false) }
      guard let name = arguments.word() else { throw UsageError("a command is missing") }
      let command = try command(name, &arguments, environment, isJSON: isJSON)
      try arguments.end()
      return (command, isJSON)
    } catch {
      let needsDashes =
        name == "exec" && !words.contains("--") && error.description.hasPrefix("unknown option")
      let hint = "; write -- before the command, such as: cloudsync exec -- make test"
      throw UsageError(
        error.description + (needsDashes ? hint : ""), topic: error.topic ?? topic,
        code: error.code)
    }
  }

  private static func command(
    _ name: String, _ arguments: inout Arguments, _ environment: [String: String], isJSON: Bool
  ) throws(UsageError) -> Command {
    if name != "exec", arguments.rest != nil { throw UsageError("-- is for exec only") }
    switch name {
    case "serve":
      if arguments.flag("detach") {
        // What is left is what the detached server is started with.
        var checked = arguments
        let options = try ServerOptions(&checked, environment)
        try checked.end()
        if options.requestLog == "-" {
          throw UsageError("--detach has no output for --request-log -; name a file")
        }
        return .detach(arguments: arguments.takeOptions(), warning: options.warning)
      }
      return .serve(Serve(options: try ServerOptions(&arguments, environment)))
    case "wait", "stop":
      let time = try arguments.seconds("timeout") ?? 30
      return name == "wait"
        ? .wait(try Address.url(&arguments, environment), seconds: time)
        : .stop(try Address(&arguments, environment, needsServer: "stop"), seconds: time)
    case "exec":
      guard let command = arguments.rest, !command.isEmpty, arguments.nextWord == nil else {
        throw UsageError("write -- and the command after it, such as: cloudsync exec -- make test")
      }
      if isJSON { throw UsageError("exec has no --json: its output is that of the command") }
      return .exec(
        Exec(options: try ServerOptions(&arguments, environment), command: command))
    case "inspect": return .inspect(try inspect(&arguments, environment))
    case "watch":
      return .watch(
        Watch(address: try Address(&arguments, environment, needsServer: "watch")))
    case "faults":
      let address = try Address(&arguments, environment, needsServer: "faults")
      if arguments.nextWord == "apply" {
        _ = arguments.word()
        return .applyFaults(path: try arguments.word("the file with the faults"), address)
      }
      return .faults(Faults(verb: try Faults.Verb(&arguments), address: address))
    case "keys": return .keys(try Keys(&arguments, environment))
    case "token":
      return .issueToken(
        account: try arguments.word("the name of the account"),
        try Address(&arguments, environment, needsServer: "token"))
    case "export", "import", "reset":
      return .archives(
        Archives(
          verb: try archives(name, &arguments), address: try Address(&arguments, environment)))
    case "state": return try state(&arguments)
    case "trace": return .showTrace(path: try arguments.word("the file"))
    case "help": return .help(topic: arguments.word())
    case "completion":
      return .completion(
        script: try Completion.script(of: arguments.word("the shell"), for: "cloudsync"))
    case "version": return .version
    case "man": return .manual
    default:
      let names = Help.topics.keys.sorted() + ["help", "version"]
      throw UsageError("unknown command \(quoted(name))" + suggestion(for: name, of: names))
    }
  }

  private static func inspect(
    _ arguments: inout Arguments, _ environment: [String: String]
  ) throws(UsageError) -> Inspect {
    var subject: Subject?
    if let word = arguments.word() {
      subject = Subject(rawValue: word)
      guard subject != nil else {
        let all = Subject.allCases.map(\.rawValue).joined(separator: ", ")
        let meant = nearest(to: word, of: Subject.allCases.map(\.rawValue))
        throw UsageError(
          "cannot inspect \(quoted(word)); "
            + (meant.map { "did you mean \($0)? There" } ?? "there") + " are \(all)")
      }
    }
    var inspect = Inspect(subject: subject, address: try Address(&arguments, environment))
    if subject?.needsDatabase == true {
      inspect.choice = try DatabaseChoice(&arguments, environment)
    }
    if subject == .subscriptions {
      inspect.scope = arguments.value("scope")
      guard !inspect.choice.isPublic else {
        throw UsageError("a subscription belongs to an account; use --account and --scope public")
      }
    }
    if subject?.needsZone == true { inspect.choice.zone = arguments.value("zone") }
    if subject?.hasPages == true {
      inspect.limit = try arguments.limit(or: Inspect.usualLimit)
      inspect.after = arguments.value("after")
    }
    return inspect
  }

  private static func archives(
    _ name: String, _ arguments: inout Arguments
  ) throws(UsageError) -> Archives.Verb {
    switch name {
    case "export":
      return .export(
        to: arguments.value("output"), withSecret: arguments.flag("with-secret"))
    case "import":
      return .importFrom(
        try arguments.word("the file, or - for standard input,"),
        newIdentity: arguments.flag("new-identity"))
    default:
      guard arguments.flag("yes") else {
        throw UsageError("reset removes everything the server holds; add --yes to confirm")
      }
      return .reset
    }
  }

  private static func state(_ arguments: inout Arguments) throws(UsageError) -> Command {
    let verb = try arguments.word("show or diff")
    switch verb {
    case "show":
      return .showState(
        path: try arguments.word("the file"), member: arguments.value("member"),
        limit: try arguments.limit(or: 20))
    case "diff":
      return .compareStates(
        old: try arguments.word("the old file"), new: try arguments.word("the new file"),
        member: arguments.value("member"))
    default: throw UsageError("a state is shown or compared, not \(quoted(verb))")
    }
  }
}

extension Arguments {
  /// A time in seconds, if the option is given.
  mutating func seconds(_ name: String) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let seconds = Int(text), (1...86_400).contains(seconds) else {
      throw UsageError("--\(name) needs 1 to 86400 seconds, not \(quoted(text))")
    }
    return seconds
  }

  /// The maximum number of entries to show.
  mutating func limit(or other: Int) throws(UsageError) -> Int {
    guard let text = value("limit") else { return other }
    if text == "all" { return .max }
    guard let limit = Int(text), limit >= 0 else {
      throw UsageError("--limit needs a whole number or all, not \(quoted(text))")
    }
    return limit
  }
}
