import CommandLineKit
import Foundation

extension ToolCommand {
  static let sync = ToolCommand(
    "sync", .inSession { try await $0.syncAll($1) })
}

extension Session {
  /// Syncs all stores, then throws the first error, if there was one.
  fileprivate func syncAll(_ output: Output) async throws {
    try await device.connect()
    var document: Document = [:]
    var lines: [String] = []
    var failures: [any Error] = []
    for type in Store.apps() {
      do {
        let report = try await app(type).syncOnce(showingOn: output)
        document[type.name] = report.document
        lines.append(report.words)
      } catch let error as CancellationError {
        throw error
      } catch {
        failures.append(error)
      }
    }
    if !lines.isEmpty { try output.result(document, lines.joined(separator: "\n")) }
    guard let first = failures.first else { return }
    var told = [words(first)]
    for failure in failures.dropFirst() where !told.contains(words(failure)) {
      told.append(words(failure))
      output.problem("stores", words(failure))
    }
    throw first
  }
}
