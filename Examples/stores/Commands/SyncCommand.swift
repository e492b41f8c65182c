import ClipboardStore
import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport
import TabStore

/// What one `sync` did.
struct SyncDocument: Encodable {
  var store: String
  var sent: Int
  var deletionsSent: Int
  var received: Int
  var deletionsReceived: Int
  var conflicts: [SyncActivity.Conflict]
  var unsent: Int

  /// One line for people.
  var words: String {
    var parts = [
      "sent \(sent), received \(received)",
      "deletions sent \(deletionsSent), received \(deletionsReceived)",
    ]
    let real = conflicts.filter { $0.resolution != .equal }
    if !real.isEmpty {
      let won = real.filter { $0.resolution == .localWon }.count
      parts.append(
        "\(count(real.count, "conflict")): \(won) kept this device's version, "
          + "\(real.count - won) the other one")
    }
    return "\(store): " + parts.joined(separator: " · ")
  }
}

/// What a `sync` of all stores did.
struct SyncAllDocument: Encodable {
  var itsypad: SyncDocument
  var results: ResultsStatusDocument
}

extension Session {
  /// Syncs all stores.
  func syncAll(_ output: Output) async throws {
    let link = try await connect()
    let store = try results(link)
    let document = SyncAllDocument(
      itsypad: try await syncItsypad(link, store: "tabs and clipboard"),
      results: try await syncResults(store))
    try output.result(document, document.itsypad.words + "\n" + document.results.words)
  }

  /// Syncs tabs and clipboard; they share an engine, so either store's `sync` does both.
  func syncItsypad(_ link: LinkedDevice, store: String) async throws -> SyncDocument {
    let engine = try itsypad(link)
    if !hasDecidedAboutSync {
      try engine.setEnabled(true)
    } else if engine.isEnabled {
      try engine.start()
    } else {
      throw ToolError("sync is off on this device; to turn it on, run: stores tabs sync on")
    }
    do {
      try await engine.sync()
    } catch {
      try await engine.shutDown()
      throw error
    }
    let activity = engine.activity
    try await engine.shutDown()
    return SyncDocument(
      store: store, sent: activity.saved, deletionsSent: activity.deleted,
      received: activity.received, deletionsReceived: activity.removed,
      conflicts: activity.conflicts, unsent: tabs.unsentCount + clipboard.unsentCount)
  }
}

/// What went wrong, in words for people.
func words(_ error: any Error) -> String {
  switch error {
  case let error as CKError:
    switch error.code {
    case .notAuthenticated:
      return "no account is signed in on this device; run: stores account switch NAME"
    case .networkFailure, .networkUnavailable:
      return "the server can't be reached: \(error.localizedDescription)"
    default: return "\(error.localizedDescription) (\(error.code))"
    }
  case let error as CloudError: return error.message
  case is CancellationError: return "interrupted"
  default: return "\(error)"
  }
}
