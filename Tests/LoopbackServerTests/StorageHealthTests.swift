import Synchronization
import Testing

@testable import LoopbackServer

@Suite("Reports of a storage that fails")
struct StorageHealthTests {
  private func error(_ code: ServerFileError.Code) -> ServerFileError {
    ServerFileError(code, path: "p", "\(code)")
  }

  /// What is reported of these failures, and of a stored change after them.
  private func reports(of codes: [ServerFileError.Code]) -> [String] {
    let reports = Mutex<[String]>([])
    let health = StorageHealth()
    health.observe { reason in reports.withLock { $0.append(reason ?? "works again") } }
    for code in codes { health.note(error(code), reason: "\(code)") }
    health.noteSuccess(hasChanges: true)
    return reports.withLock { $0 }
  }

  @Test("A storage works again when its failures have ended, which damage never does")
  func storageWorksAgainWhenAllFailuresHaveEnded() {
    let cases: [([ServerFileError.Code], [String])] = [
      ([], []), ([.full], ["full", "works again"]), ([.full, .full], ["full", "works again"]),
      ([.damaged], ["damaged"]), ([.damaged, .full], ["damaged", "full"]),
      ([.full, .damaged], ["full", "damaged"]), ([.busy], []),
      ([.busy, .full], ["full", "works again"]),
    ]
    for (codes, expected) in cases { #expect(reports(of: codes) == expected, "\(codes)") }
  }
}
