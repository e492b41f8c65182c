import Foundation
import VerificationSupport

/// The figures that are printed at the end, with their limits.
struct Report {
  /// How many bytes more than a fresh one a server may hold that served all devices, and how many
  /// more than before the soak itself may hold.
  static let spareMemory = 64 << 20
  /// How many bytes more the soak may hold for each request: Foundation on Linux loses the parts
  /// of every URL it loads.
  static let lostPerRequest = 1_024
  /// The allowed number of additional descriptors.
  static let spareDescriptors = 2

  let options: Options
  var kills = 0
  var totals = Ledger.Totals()
  var quiet: Double = 0
  var lost = 0
  var doubled = 0
  var notes = 0
  var clientBefore = ProcessFigures()
  var clientAfter = ProcessFigures()
  var server = ProcessFigures()
  var freshServer = ProcessFigures()
  var lives: [ProcessFigures] = []
  var fileBytes = 0

  init(_ options: Options) { self.options = options }

  /// Holds the figures against their bounds.
  func check(_ ledger: Ledger) {
    compare("the server", server, freshServer, spare: Report.spareMemory, ledger)
    compare(
      "the soak", clientAfter, clientBefore,
      spare: Report.spareMemory + totals[.requests] * Report.lostPerRequest, ledger)
    if totals[.saves] == 0 { ledger.violation("nothing was written") }
  }

  private func compare(
    _ name: String, _ figures: ProcessFigures, _ baseline: ProcessFigures, spare: Int,
    _ ledger: Ledger
  ) {
    if let memory = figures.memory, let base = baseline.memory,
      memory > base + spare
    {
      ledger.violation(
        "\(name) holds \(figures.megabytes) MB where \(baseline.megabytes) MB would do")
    }
    if let descriptors = figures.descriptors, let base = baseline.descriptors,
      descriptors > base + Report.spareDescriptors
    {
      ledger.violation(
        "\(name) holds \(descriptors) descriptors (\(figures.kindText)) where \(base) "
          + "(\(baseline.kindText)) would do")
    }
  }

  /// All figures.
  var lines: [String] {
    let memory = lives.compactMap(\.memory).sorted()
    let descriptors = lives.compactMap(\.descriptors).sorted()
    func megabytes(_ bytes: Int?) -> String { bytes.map { String(($0 + 524_288) >> 20) } ?? "?" }
    func text(_ number: Int?) -> String { number.map(String.init) ?? "?" }
    let counts = Ledger.Event.allCases.map { ($0.rawValue, "\(totals[$0])") }
    let rows = [
      ("notes at the end", "\(notes)"),
      ("server's file", "\(megabytes(fileBytes)) MB"),
      (
        "servers when killed",
        "\(megabytes(memory.first)) to \(megabytes(memory.last)) MB, "
          + "\(text(descriptors.first)) to \(text(descriptors.last)) fds"
      ),
      (
        "soak before and after",
        "\(clientBefore.megabytes) and \(clientAfter.megabytes) MB, "
          + "\(clientBefore.descriptorText) and \(clientAfter.descriptorText) fds, "
          + "\(text(clientBefore.threads)) and \(text(clientAfter.threads)) threads"
      ),
    ]
    return (counts + rows).map { "  \($0.0): \($0.1)" }
  }

  /// The most important figures.
  var summary: String {
    " \(options.seconds) s, \(options.devices) devices, \(kills) kills, "
      + "\(totals.acknowledged) acknowledged writes, \(lost) lost, "
      + "\(doubled) doubled, converged in \(String(format: "%.1f", quiet)) s, "
      + "server \(server.megabytes) MB (fresh \(freshServer.megabytes)), "
      + "\(server.descriptorText) fds (\(freshServer.descriptorText))"
  }
}
