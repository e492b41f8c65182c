import CommandLineKit
import WebServices

/// The database, and the zone in it, that a command uses; omitted values are filled in if there is
/// only one choice.
struct DatabaseChoice: Hashable, Sendable {
  var container: String?
  /// The account of a private database.
  var account: String?
  var isPublic = false
  var environment: String?
  var zone: String?

  /// Parses the choice from a command line, or else from the environment.
  init(_ arguments: inout Arguments, _ variables: [String: String]) throws(UsageError) {
    container = arguments.value("container") ?? variables[Variable.container]
    let accounts = arguments.values("account")
    if accounts.count > 1 { throw UsageError("--account is given twice") }
    account = accounts.first
    isPublic = arguments.flag("public")
    if account != nil, isPublic { throw UsageError("give --account or --public, not both") }
    environment = arguments.value("environment")
    if let environment, !["development", "production"].contains(environment) {
      throw UsageError("--environment is development or production")
    }
  }

  /// Creates an empty choice.
  init() {}

  /// Fills in the database.
  ///
  /// - Throws: `ToolError` if there is none, or more than one.
  func found(by control: any ControlInterface) async throws -> DatabaseChoice {
    let all = try await control.json(.get("databases"))["databases"]?.array ?? []
    let databases = all.compactMap(DatabaseChoice.init(database:))
    // Without a word about it, a database with a full name is that of development.
    let wanted =
      environment ?? (container != nil && (account != nil || isPublic) ? "development" : nil)
    let fitting = databases.filter { other in
      (container ?? other.container) == other.container
        && (account ?? other.account) == other.account
        && (wanted ?? other.environment) == other.environment && (!isPublic || other.isPublic)
    }
    guard var choice = fitting.first else {
      guard !databases.isEmpty else {
        throw ToolError("the server holds no database yet", code: ExitCode.unknownName)
      }
      let isShared = all.contains {
        $0["scope"]?.string == "shared" && $0["account"]?.string == account
      }
      throw ToolError(
        "the server holds no such database; "
          + (isShared ? "a shared database shows zones of others, so inspect those; " : "")
          + "there are:\n" + DatabaseChoice.list(databases),
        code: ExitCode.unknownName)
    }
    guard fitting.count == 1 else {
      throw ToolError(
        "there are \(fitting.count) such databases; say which:\n" + DatabaseChoice.list(fitting),
        code: ExitCode.usage)
    }
    choice.zone = zone
    return choice
  }

  /// Fills in the zone, after the database was filled in.
  func foundZone(by control: any ControlInterface) async throws -> DatabaseChoice {
    let answer = try await control.json(.get("zones", parameters))
    let names = (answer["zones"]?.array ?? []).compactMap { $0["zoneID"]?["zoneName"]?.string }
    let list = names.prefix(20).map { "  --zone \(shellWord($0))" }.joined(separator: "\n")
    if let zone {
      guard !names.contains(zone) else { return self }
      throw ToolError(
        "there is no zone \(quoted(zone)); there "
          + (names.isEmpty ? "is none" : "are:\n\(list)"), code: ExitCode.unknownName)
    }
    guard let name = names.first else {
      throw ToolError("the database holds no zone yet", code: ExitCode.unknownName)
    }
    guard names.count == 1 else {
      throw ToolError("there are \(names.count) zones; say which:\n\(list)", code: ExitCode.usage)
    }
    var choice = self
    choice.zone = name
    return choice
  }

  /// The parameters that select the database.
  var parameters: [(name: String, value: String?)] {
    [("container", container), ("account", account), ("environment", environment)]
  }

  /// The options that select each of some databases, one to a line.
  private static func list(_ databases: [DatabaseChoice]) -> String {
    let lines = databases.prefix(10).map { "  \($0.options)" }
    let more = databases.count > 10 ? ["  and \(databases.count - 10) more"] : []
    return (lines + more).joined(separator: "\n")
  }

  /// The options that select the database.
  private var options: String {
    let whose = account.map { "--account \(shellWord($0))" } ?? "--public"
    let place = environment == "development" ? "" : " --environment \(environment ?? "")"
    return "--container \(shellWord(container ?? "")) \(whose)\(place)"
  }

  /// The choice for a database in a server's list; `nil` for a shared database, which is only a
  /// view.
  private init?(database: JSON) {
    container = database["container"]?.string
    account = database["account"]?.string
    environment = database["environment"]?.string
    isPublic = database["scope"]?.string == "public"
    guard isPublic || database["scope"]?.string == "private" else { return nil }
  }
}

/// `text` as one word of a command line.
private func shellWord(_ text: String) -> String {
  let plain = printable(text)
  let isBare = plain.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
  return isBare && !plain.isEmpty
    ? plain
    : "'"
      + plain.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''") + "'"
}
