import AnnotationStore
import CloudSync
import CommandLineKit
import Foundation
import SyncSupport

/// Layers with annotations, and the simulated network of the device.
struct AnnotationsApp: StoreApp {
  static let name = "annotations"

  let store: AnnotationStore
  let coordinator: AnnotationCoordinator
  private let link: SimulatedLink
  private let linkFile: AtomicFile
  private let metricsFile: DocumentFile<SyncMetrics>

  init(_ place: AppPlace) throws {
    store = try AnnotationStore(directory: place.directory, container: place.container())
    linkFile = AtomicFile(place.directory.appendingPathComponent("link"))
    metricsFile = DocumentFile(
      place.directory.appendingPathComponent("metrics.json"), format: "sync-metrics")
    let word = try linkFile.read().map { String(decoding: $0, as: UTF8.self) }
    link = SimulatedLink(word.flatMap(NetworkStatus.init(rawValue:)) ?? .online)
    coordinator = AnnotationCoordinator(store: store, network: NetworkMonitor(link))
  }

  var inventory: [(count: Int, noun: String)] {
    [
      (store.layers.count, "layer"), (store.annotations().count, "annotation"),
      (store.comments().count, "comment"),
    ]
  }

  var unsent: Int { store.waitingCount }

  func sync() async throws -> SyncReport {
    guard link.status.isConnected else {
      throw ToolError("the simulated link is off; run: stores annotations link on")
    }
    do {
      try await coordinator.syncNow()
    } catch {
      try noteMetrics()
      throw error
    }
    try noteMetrics()
    return SyncReport(status.document, syncWords)
  }

  func stop() async { await coordinator.stopSync() }

  var seen: RecordTable {
    RecordTable(
      store.canonicalLines.map { line in
        let words = line.split(separator: " ", maxSplits: 2)
        return (words.prefix(2).joined(separator: "/"), String(words.last ?? ""))
      })
  }

  var traces: Traces {
    let annotations = store.annotations()
    return Traces(
      names: (store.layers.map(\.id) + annotations.map(\.id)).map(\.uuidString),
      texts: annotations.map(\.content.text) + store.comments().map(\.text))
  }

  /// The status of the simulated network.
  var network: NetworkStatus { link.status }

  /// Turns the simulated network on or off, for this and later commands.
  func setNetwork(_ status: NetworkStatus) throws {
    try linkFile.write(Data(status.rawValue.utf8))
    link.status = status
  }

  /// The metrics of all commands on this device.
  func metrics() throws -> SyncMetrics { try metricsFile.read() ?? SyncMetrics() }

  func resetMetrics() throws { try metricsFile.write(SyncMetrics()) }

  /// Adds the metrics of this command to those on the disk.
  private func noteMetrics() throws {
    var sum = try metrics()
    sum.add(store.metrics)
    store.resetMetrics()
    try metricsFile.write(sum)
  }
}
