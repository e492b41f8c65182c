import ClipboardStore
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport
import TabStore

/// Who is signed in, as `--json` shows it.
struct AccountDocument: Encodable {
  var device: String
  var account: String?
  var removed: Int
  var givenUp: Int
}

extension Session {
  /// Carries out a verb of `account`.
  func perform(_ verb: AccountVerb, _ output: Output) async throws {
    switch verb {
    case .show:
      try output.result(
        AccountDocument(device: deviceName, account: account, removed: 0, givenUp: 0),
        account.map { "the device \(deviceName) is signed in as \(printable($0))" }
          ?? "no account is signed in on the device \(deviceName)")
    case .switchTo(let name, let isForced):
      try DeviceSettings.check(account: name)
      guard name != account else {
        throw ToolError("the device is signed in as \(quoted(name)) already")
      }
      try await leave(for: name, isForced, output)
    case .signOut(let isForced):
      guard account != nil else {
        throw ToolError("no account is signed in on this device")
      }
      try await leave(for: nil, isForced, output)
    }
  }

  private func leave(for next: String?, _ isForced: Bool, _ output: Output) async throws {
    var unsent = 0
    let store = try results(link())
    let items = tabs.tabs.count + clipboard.entries.count + store.results.count
    if account != nil {
      unsent = try await sendBeforeLeaving(isForced)
    }
    try leave(for: next)
    let now = next.map { "signed in as \(printable($0))" } ?? "signed out"
    try output.result(
      AccountDocument(device: deviceName, account: next, removed: items, givenUp: unsent),
      "the device \(deviceName) is \(now); \(count(items, "item")) of "
        + "\(account.map(printable) ?? "nobody") removed from it"
        + (unsent == 0 ? "" : ", \(count(unsent, "change")) given up"))
  }

  /// Sends what waits.
  ///
  /// - Returns: how many changes could not be sent; more than 0 only when that is allowed.
  private func sendBeforeLeaving(_ isForced: Bool) async throws -> Int {
    let link = try link()
    let store = try results(link)
    var failure: (any Error)?
    if tabs.unsentCount + clipboard.unsentCount > 0 {
      do {
        _ = try await syncItsypad(try await connect(), store: "tabs and clipboard")
      } catch { failure = error }
    }
    if store.status.waiting > 0 {
      do {
        _ = try await connect()
        _ = try await syncResults(store)
      } catch { failure = error }
    }
    let unsent = tabs.unsentCount + clipboard.unsentCount + store.status.waiting
    if unsent > 0 && !isForced {
      throw ToolError(
        "\(count(unsent, "change")) of this account could not be sent, so nothing was done: "
          + "\(failure.map(words) ?? "sync again later"); --force gives the changes up")
    }
    return unsent
  }
}
