import CommandLineKit

extension Command {
  private static let options = Arguments.Options(
    valued: [
      "port", "data", "container", "server", "control-token", "environment", "zone", "limit",
      "output", "member", "scope", "after",
    ],
    repeated: ["account", "allow-origin"],
    flags: ["json", "help", "version", "fault-control", "public", "yes"])

  /// Reads a command line, without the program's name.
  static func parse(
    _ words: [String], _ environment: [String: String]
  ) throws(UsageError) -> (command: Command, isJSON: Bool) {
    // The command comes first, so that its help can be named whatever follows.
    let name = words.first { !$0.hasPrefix("-") }
    let topic = name.flatMap { Help.topics[$0] == nil ? nil : $0 }
    do throws(UsageError) {
      var arguments = try Arguments(words, knowing: options, keepsRest: true)
      let isJSON = arguments.flag("json")
      if arguments.flag("help") { return (.help(topic: arguments.word()), false) }
      if arguments.flag("version") { return (.version, false) }
      guard let name = arguments.word() else { throw UsageError("say what to do") }
      let command = try command(name, &arguments, environment, isJSON: isJSON)
      try arguments.end()
      return (command, isJSON)
    } catch {
      throw UsageError(error.description, topic: error.topic ?? topic)
    }
  }

  private static func command(
    _ name: String, _ arguments: inout Arguments, _ environment: [String: String], isJSON: Bool
  ) throws(UsageError) -> Command {
    if name != "exec", arguments.rest != nil { throw UsageError("-- means nothing here") }
    switch name {
    case "serve": return .serve(Serve(options: try ServerOptions(&arguments, environment)))
    case "exec":
      guard let command = arguments.rest, !command.isEmpty, arguments.nextWord == nil else {
        throw UsageError("write -- and the command after it, such as: cloudsync exec -- make test")
      }
      if isJSON { throw UsageError("--json means nothing here") }
      return .exec(
        Exec(options: try ServerOptions(&arguments, environment), command: command))
    case "state": return try state(&arguments)
    case "help": return .help(topic: arguments.word())
    case "version": return .version
    default: throw UsageError("unknown command \(quoted(name))")
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
  /// The most entries of a list to show.
  mutating func limit(or other: Int) throws(UsageError) -> Int {
    guard let text = value("limit") else { return other }
    if text == "all" { return .max }
    guard let limit = Int(text), limit >= 0 else {
      throw UsageError("--limit needs a whole number or all, not \(quoted(text))")
    }
    return limit
  }
}
