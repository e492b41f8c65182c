import CommandLineKit
import Foundation

extension ToolCommand {
  /// Shows or changes who is signed in on the device.
  static let account = ToolCommand(
    "account", summary: "which account the device uses; switch NAME, sign-out",
    help: """
      Usage: stores account [switch NAME | sign-out] [--force]

      Without a verb, shows the device's account. Before a device leaves an account it sends what
      waits; then everything of the account is removed from the device. When sending fails,
      nothing happens, unless --force gives up what was not sent.

      """,
    usages: ["switch NAME [--force]", "sign-out [--force]"]
  ) { arguments in
    switch arguments.word() {
    case nil:
      return { invocation in
        try await invocation.withSession { try $0.showAccount(invocation.output) }
        return 0
      }
    case "switch":
      let name = try arguments.word("the account's name")
      let isForced = arguments.flag("force")
      return { invocation in
        try await invocation.withSession {
          try await $0.switchAccount(to: name, isForced, invocation.output)
        }
        return 0
      }
    case "sign-out":
      let isForced = arguments.flag("force")
      return { invocation in
        try await invocation.withSession { try await $0.signOut(isForced, invocation.output) }
        return 0
      }
    case let verb?:
      throw UsageError("account can't \(quoted(verb))" + hint(verb, ["switch", "sign-out"]))
    }
  }
}

/// Who is signed in, as `--json` shows it.
struct AccountDocument: Encodable {
  var device: String
  var account: String?
  var removed: Int
  var givenUp: Int
}

extension Session {
  fileprivate func showAccount(_ output: Output) throws {
    try output.result(
      AccountDocument(device: device.name, account: account, removed: 0, givenUp: 0),
      account.map { "the device \(device.name) is signed in as \(printable($0))" }
        ?? "no account is signed in on the device \(device.name)")
  }

  fileprivate func switchAccount(
    to name: String, _ isForced: Bool, _ output: Output
  ) async throws {
    try DeviceSettings.check(account: name)
    guard name != account else {
      throw ToolError("the device is signed in as \(quoted(name)) already")
    }
    try await leave(for: name, isForced, output)
  }

  fileprivate func signOut(_ isForced: Bool, _ output: Output) async throws {
    guard account != nil else { throw ToolError("no account is signed in on this device") }
    try await leave(for: nil, isForced, output)
  }

  private func leave(for next: String?, _ isForced: Bool, _ output: Output) async throws {
    let items = try apps().reduce(0) { $0 + $1.itemCount }
    let unsent = account == nil ? 0 : try await sendBeforeLeaving(isForced, output)
    try leave(for: next)
    let now = next.map { "signed in as \(printable($0))" } ?? "signed out"
    try output.result(
      AccountDocument(device: device.name, account: next, removed: items, givenUp: unsent),
      "the device \(device.name) is \(now); \(count(items, "item")) of "
        + "\(account.map(printable) ?? "nobody") removed from it"
        + (unsent == 0 ? "" : ", \(count(unsent, "change")) given up"))
  }

  /// Sends what waits.
  ///
  /// - Returns: how many changes could not be sent; more than 0 only when that is allowed.
  private func sendBeforeLeaving(_ isForced: Bool, _ output: Output) async throws -> Int {
    let apps = try apps()
    var failure: (any Error)?
    for app in apps where app.unsent > 0 {
      do {
        try await device.connect()
        _ = try await app.syncOnce(showingOn: output)
      } catch { failure = error }
    }
    let unsent = apps.reduce(0) { $0 + $1.unsent }
    if unsent > 0 && !isForced {
      throw ToolError(
        "\(count(unsent, "change")) of this account could not be sent, so nothing was done: "
          + "\(failure.map(words) ?? "sync again later"); --force gives the changes up")
    }
    return unsent
  }
}
