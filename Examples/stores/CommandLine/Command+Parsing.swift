import CommandLineKit

extension Command {
  /// The options of all commands.
  private static let known = Arguments.Options(
    valued: [
      "home", "device", "account", "text", "file", "name", "older-than", "limit", "game",
      "server", "api-token", "web-token", "control-token",
    ],
    flags: ["json", "help", "force"])

  /// Reads a command line, without the program's name.
  static func parse(
    _ arguments: [String]
  ) throws(UsageError) -> (options: GlobalOptions, command: Command) {
    var arguments = try Arguments(arguments, knowing: known)
    var options = GlobalOptions()
    options.home = arguments.value("home")
    options.device = arguments.value("device")
    options.account = arguments.value("account")
    options.server = arguments.value("server")
    options.apiToken = arguments.value("api-token")
    options.webToken = arguments.value("web-token")
    options.controlToken = arguments.value("control-token")
    options.isJSON = arguments.flag("json")
    let wantsHelp = arguments.flag("help")
    guard let name = arguments.word() else {
      if wantsHelp { return (options, .help(topic: nil)) }
      throw UsageError("say what to do")
    }
    if wantsHelp { return (options, .help(topic: name)) }
    do throws(UsageError) {
      let command = try command(name, &arguments)
      try arguments.end()
      return (options, command)
    } catch {
      throw UsageError(error.description, topic: Help.topics[name] == nil ? nil : name)
    }
  }

  private static func command(
    _ name: String, _ arguments: inout Arguments
  ) throws(UsageError) -> Command {
    switch name {
    case "tabs": .tabs(try TabsVerb(&arguments))
    case "clipboard": .clipboard(try ClipboardVerb(&arguments))
    case "results": .results(try ResultsVerb(&arguments))
    case "account": .account(try AccountVerb(&arguments))
    case "sync": .sync
    case "demo": .demo
    case "reset": .reset(isForced: arguments.flag("force"))
    case "help": .help(topic: arguments.word())
    default:
      throw UsageError(
        "unknown store or command \(quoted(name)); there are tabs, clipboard, results, sync, "
          + "account, demo and reset")
    }
  }
}

extension TabsVerb {
  init(_ arguments: inout Arguments) throws(UsageError) {
    switch try arguments.word("a verb for tabs") {
    case "add":
      let name = try arguments.word("the new tab's name")
      guard let source = try TextSource(&arguments) else {
        throw UsageError("say what is in the tab: --text TEXT, --file FILE, or - to read it")
      }
      self = .add(name: name, source)
    case "import": self = .importFrom(path: try arguments.word("a folder, or an exported file,"))
    case "edit":
      let id = try arguments.word("the tab's ID")
      let (source, name) = (try TextSource(&arguments), arguments.value("name"))
      guard source != nil || name != nil else {
        throw UsageError("say what to change: --text TEXT, --file FILE, - or --name NAME")
      }
      self = .edit(id: id, source, name: name)
    case "language":
      self = .language(
        id: try arguments.word("the tab's ID"), try arguments.word("the language"))
    case "close": self = .close(id: try arguments.word("the tab's ID"))
    case "list": self = .list
    case "show": self = .show(id: try arguments.word("the tab's ID"))
    case "sync":
      switch arguments.word() {
      case nil: self = .sync
      case "on": self = .setSync(isOn: true)
      case "off": self = .setSync(isOn: false)
      case let word?: throw UsageError("sync is turned on or off, not \(quoted(word))")
      }
    case "watch": self = .watch
    case let verb: throw UsageError("tabs can't \(quoted(verb))")
    }
  }
}

extension ClipboardVerb {
  /// How long entries are kept when `prune` is not told.
  private static let defaultAge = 30.0 * 86_400

  init(_ arguments: inout Arguments) throws(UsageError) {
    switch try arguments.word("a verb for clipboard") {
    case "add":
      if let source = try TextSource(&arguments) {
        self = .add(source)
      } else if let text = arguments.word() {
        self = .add(.text(text))
      } else {
        self = .add(.standardInput)
      }
    case "list":
      guard let text = arguments.value("limit") else {
        self = .list(limit: nil)
        return
      }
      guard let limit = Int(text), limit > 0 else {
        throw UsageError("--limit needs a whole number above 0, not \(quoted(text))")
      }
      self = .list(limit: limit)
    case "delete": self = .delete(id: try arguments.word("the entry's ID"))
    case "clear": self = .clear
    case "prune":
      self = .prune(age: try arguments.value("older-than").map(seconds) ?? Self.defaultAge)
    case "sync": self = .sync
    case let verb: throw UsageError("clipboard can't \(quoted(verb))")
    }
  }
}

extension ResultsVerb {
  init(_ arguments: inout Arguments) throws(UsageError) {
    switch try arguments.word("a verb for results") {
    case "add":
      // The text comes on standard input; a lone dash says the same.
      if arguments.nextWord == "-" { _ = arguments.word() }
      self = .add
    case "import": self = .importFrom(path: try arguments.word("a file with share texts"))
    case "list": self = .list(game: arguments.value("game"))
    case "streaks": self = .streaks(game: arguments.word())
    case "delete": self = .delete(id: try arguments.word("the result's ID"))
    case "sync": self = .sync
    case "status": self = .status
    case let verb: throw UsageError("results can't \(quoted(verb))")
    }
  }
}

extension AccountVerb {
  init(_ arguments: inout Arguments) throws(UsageError) {
    switch arguments.word() {
    case nil: self = .show
    case "switch":
      self = .switchTo(
        try arguments.word("the account's name"), isForced: arguments.flag("force"))
    case "sign-out": self = .signOut(isForced: arguments.flag("force"))
    case let verb?: throw UsageError("account can't \(quoted(verb))")
    }
  }
}

extension TextSource {
  /// The source named on the command line, or `nil` when none is.
  init?(_ arguments: inout Arguments) throws(UsageError) {
    var sources: [TextSource] = []
    if let text = arguments.value("text") { sources.append(.text(text)) }
    if let file = arguments.value("file") { sources.append(.file(file)) }
    if arguments.nextWord == "-" {
      _ = arguments.word()
      sources.append(.standardInput)
    }
    if sources.count > 1 { throw UsageError("give the text once: --text, --file or -") }
    guard let source = sources.first else { return nil }
    self = source
  }
}

/// Seconds in a length of time such as `90s`, `15m`, `12h` or `7d`; a bare number is days.
private func seconds(_ text: String) throws(UsageError) -> Double {
  let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
  let unit = text.last.flatMap { units[$0] }
  let digits = unit == nil ? text[...] : text.dropLast()
  guard let number = Double(digits), number.isFinite, number >= 0 else {
    throw UsageError("\(quoted(text)) is no length of time; write 90s, 15m, 12h or 7d")
  }
  return number * (unit ?? 86_400)
}
