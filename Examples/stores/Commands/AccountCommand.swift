import CommandLineKit
import Foundation

extension ToolCommand {
  static let account = ToolCommand(
    "account",
    .inSession { try $0.showAccount($1) },
    verbs: [
      .inSession("switch ACCOUNT [--force]", .word("the account's name"), .flag("force")) {
        try await $0.changeAccount(to: $2, isForced: $3, $1)
      },
      .inSession("sign-out [--force]", .flag("force")) {
        try await $0.changeAccount(to: nil, isForced: $2, $1)
      },
    ])
}

extension Session {
  private func document(
    _ account: String?, removed: Int = 0, givenUp: Int = 0, kept: Int = 0
  ) -> Document {
    [
      "device": device.name, "account": account, "removed": removed, "givenUp": givenUp,
      "kept": kept,
    ]
  }

  fileprivate func showAccount(_ output: Output) throws {
    try output.result(
      document(account),
      account.map { "the device \(device.name) is signed in as \(printable($0))" }
        ?? "no account is signed in on the device \(device.name)")
  }

  fileprivate func changeAccount(
    to next: String?, isForced: Bool, _ output: Output
  ) async throws {
    if let next {
      try DeviceSettings.check(account: next)
      guard next != account else {
        throw ToolError("the device is signed in as \(quoted(next)) already")
      }
    }
    guard let account else { return try signIn(as: next, output) }
    let items = try apps().reduce(0) { $0 + $1.itemCount }
    let unsent = try await sendBeforeLeaving(isForced, output)
    try leave(for: next)
    let now = next.map { "signed in as \(printable($0))" } ?? "signed out"
    try output.result(
      document(next, removed: items, givenUp: unsent),
      "the device \(device.name) is \(now); \(count(items, "item")) of "
        + "\(printable(account)) removed from it"
        + (unsent == 0 ? "" : ", \(count(unsent, "change")) given up"))
  }

  /// Signs in on a device without an account; the items made meanwhile belong to the new account.
  private func signIn(as next: String?, _ output: Output) throws {
    guard let next else { throw ToolError("no account is signed in on this device") }
    let items = try apps().reduce(0) { $0 + $1.itemCount }
    try enter(next)
    try output.result(
      document(next, kept: items),
      "the device \(device.name) is signed in as \(printable(next))"
        + (items == 0 ? "" : "; \(count(items, "item")) made while signed out kept"))
  }

  /// Sends the pending changes.
  ///
  /// - Returns: the number of changes that could not be sent; 0 unless `isForced`.
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
          + "\(failure.map(words) ?? "sync, or decide conflicts"); --force discards the changes")
    }
    return unsent
  }
}
