/// Everything the tool can be asked to do.
enum Command: Hashable {
  case tabs(TabsVerb)
  case clipboard(ClipboardVerb)
  case results(ResultsVerb)
  case account(AccountVerb)
  case sync
  case demo
  case reset(isForced: Bool)
  case help(topic: String?)
}

/// Where the text of a new item comes from.
enum TextSource: Hashable {
  case text(String)
  case file(String)
  case standardInput
}

/// The verbs of `tabs`.
enum TabsVerb: Hashable {
  case add(name: String, TextSource)
  case importFrom(path: String)
  case edit(id: String, TextSource?, name: String?)
  case language(id: String, String)
  case close(id: String)
  case list
  case show(id: String)
  case sync
  case setSync(isOn: Bool)
  case watch
}

/// The verbs of `clipboard`.
enum ClipboardVerb: Hashable {
  case add(TextSource)
  case list(limit: Int?)
  case delete(id: String)
  case clear
  case prune(age: Double)
  case sync
}

/// The verbs of `results`.
enum ResultsVerb: Hashable {
  case add
  case importFrom(path: String)
  case list(game: String?)
  case streaks(game: String?)
  case delete(id: String)
  case sync
  case status
}

/// The verbs of `account`.
enum AccountVerb: Hashable {
  case show
  case switchTo(String, isForced: Bool)
  case signOut(isForced: Bool)
}

/// What holds for every command.
struct GlobalOptions: Hashable {
  var home: String?
  var device: String?
  var account: String?
  var server: String?
  var apiToken: String?
  var webToken: String?
  var controlToken: String?
  var isJSON = false
}
