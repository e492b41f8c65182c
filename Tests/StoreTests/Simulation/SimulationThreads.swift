import Foundation
import StoreSimulation
import Synchronization
import Testing

/// Runs worlds on two threads of their own, so that no task of another test waits for them.
enum SimulationThreads {
  private struct Progress {
    var next = 0
    var running = 2
    var reports: [StoreSimulation.Report?]
    var failure: (any Error)?
  }

  /// Runs a world for each seed; the reports come in the order of the seeds.
  static func run(
    _ kind: StoreKind, _ seeds: [UInt64], isShort: Bool = false, bug: PlantedStoreBug? = nil
  ) async throws -> [StoreSimulation.Report] {
    let folder = StoreSimulation.defaultFolder
    return try await withCheckedThrowingContinuation { done in
      let box = Box(Progress(reports: seeds.map { _ in nil }))
      for _ in 0..<2 {
        Thread {
          box.work(kind, seeds, isShort, bug, folder)
          if let end = box.end() { done.resume(with: end) }
        }.start()
      }
    }
  }

  private final class Box: Sendable {
    private let progress: Mutex<Progress>

    init(_ progress: Progress) { self.progress = Mutex(progress) }

    func work(
      _ kind: StoreKind, _ seeds: [UInt64], _ isShort: Bool, _ bug: PlantedStoreBug?, _ folder: URL
    ) {
      while true {
        let index = progress.withLock { progress in
          defer { progress.next += 1 }
          return progress.next
        }
        guard seeds.indices.contains(index) else { return }
        do {
          let report = try StoreSimulation.run(
            kind, seed: seeds[index], isShort: isShort, bug: bug, in: folder)
          progress.withLock { $0.reports[index] = report }
        } catch {
          progress.withLock { $0.failure = error }
        }
      }
    }

    /// What came of it, for the thread that ends last.
    func end() -> Result<[StoreSimulation.Report], any Error>? {
      progress.withLock { progress in
        progress.running -= 1
        guard progress.running == 0 else { return nil }
        if let failure = progress.failure { return .failure(failure) }
        return .success(progress.reports.compactMap(\.self))
      }
    }
  }
}
