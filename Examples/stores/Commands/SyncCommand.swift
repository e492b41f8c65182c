import CommandLineKit
import Foundation

extension ToolCommand {
  /// Syncs everything there is.
  static let sync = ToolCommand(
    "sync", summary: "sync all stores now",
    help: """
      Usage: stores sync

      Fetches and sends now, in every store. A store that can't be synced does not keep the others
      from it.

      """
  ) { _ in
    { invocation in
      try await invocation.withSession { try await $0.syncAll(invocation.output) }
      return 0
    }
  }
}

/// What a `sync` of all stores did, by app.
struct SyncAllDocument: Encodable {
  var reports: [(app: String, report: any SyncReport)]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for (app, report) in reports { try container.encode(report, forKey: AnyKey(app)) }
  }
}

/// A key of a document that is known only while the program runs.
struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { return nil }
}

extension Session {
  /// Syncs all stores, then throws the first thing that went wrong, if anything did.
  func syncAll(_ output: Output) async throws {
    try await device.connect()
    var reports: [(app: String, report: any SyncReport)] = []
    var failures: [any Error] = []
    for type in Store.apps() {
      do {
        reports.append((type.name, try await app(type).syncOnce(showingOn: output)))
      } catch let error as CancellationError {
        throw error
      } catch {
        failures.append(error)
      }
    }
    if !reports.isEmpty {
      try output.result(
        SyncAllDocument(reports: reports), reports.map(\.report.words).joined(separator: "\n"))
    }
    guard let first = failures.first else { return }
    var told = [words(first)]
    for failure in failures.dropFirst() where !told.contains(words(failure)) {
      told.append(words(failure))
      output.problem("stores", words(failure))
    }
    throw first
  }
}
