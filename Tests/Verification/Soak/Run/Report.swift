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
  /// The allowed number of additional descriptors, besides the connections to a database.
  static let spareDescriptors = 2

  let options: Options
  var kills = 0
  var totals = AcknowledgedWrites.Totals()
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
  var gaps = Gaps([], absences: [], probes: [])
  var cuts: [CutPoint: Int] = [:]
  var clientCuts = 0
  /// The saves of the probes, those that are not there, and those that two servers answered.
  var probes = 0
  var lostProbes = 0
  var twins = 0
  /// The times of pushes in milliseconds, with notifications and without.
  var pushTimes: [Bool: [Double]] = [:]

  /// The most that a push from one server to another may take, in milliseconds.
  static let pushBounds = [true: 50.0, false: 1_500]
  /// The longest time without an answer after a promotion.
  static let promotionBound = Duration.seconds(1)

  init(_ options: Options) { self.options = options }

  /// Holds the figures against their bounds.
  func check(_ writes: AcknowledgedWrites) {
    compare("the server", server, freshServer, spare: Report.spareMemory, writes)
    compare(
      "the soak", clientAfter, clientBefore,
      spare: Report.spareMemory + totals[.requests] * Report.lostPerRequest, writes)
    if totals[.saves] == 0 { writes.violation("nothing was written") }
    for (notifies, bound) in Report.pushBounds {
      if let times = pushTimes[notifies], quantile(0.99, of: times) > bound {
        writes.violation("pushes between servers take more than \(Int(bound)) ms")
      }
    }
    if let gap = gaps.figures[.promotion], gap.excess > Report.promotionBound {
      writes.violation(
        "after a promotion nothing was answered for \(Report.text(gap.excess)): "
          + gap.circumstances)
    }
  }

  private static func text(_ duration: Duration) -> String {
    String(format: "%.2f s", duration / .seconds(1))
  }

  /// The figures of the interruptions and of the probes.
  private var clusterRows: [(String, String)] {
    var rows = gaps.figures.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, figures in
      (
        "interruptions: \(kind)",
        "\(figures.count), longest gap \(Report.text(figures.longest)), beyond the outage "
          + Report.text(max(.zero, figures.excess))
          + (kind == .promotion && figures.excess > .zero ? " (\(figures.circumstances))" : "")
          + (kind == .unconfirmed ? ", \(figures.commits) commits with a warning" : "")
      )
    }
    rows += CutPoint.allCases.compactMap { point in
      cuts[point].map { ("connections cut: \(point.rawValue)", "\($0)") }
    }
    if clientCuts > 0 { rows.append(("clients cut off", "\(clientCuts)")) }
    if probes > 0 {
      rows.append(
        ("saves of probes", "\(probes), \(twins) of them to two servers, \(lostProbes) lost"))
    }
    for (notifies, times) in pushTimes.sorted(by: { $0.key && !$1.key }) {
      let figures = [0.5, 0.99].map { String(format: "%.1f", quantile($0, of: times)) }
      rows.append(
        (
          "pushes \(notifies ? "with" : "without") NOTIFY",
          "\(times.count), median \(figures[0]) ms, p99 \(figures[1]) ms"
        ))
    }
    return rows
  }

  private func compare(
    _ name: String, _ figures: ProcessFigures, _ baseline: ProcessFigures, spare: Int,
    _ writes: AcknowledgedWrites
  ) {
    if let memory = figures.memory, let base = baseline.memory,
      memory > base + spare
    {
      writes.violation(
        "\(name) holds \(figures.megabytes) MB where \(baseline.megabytes) MB would do")
    }
    if let descriptors = figures.descriptors, let base = baseline.descriptors,
      descriptors > base + Report.spareDescriptors + (options.database == nil ? 0 : 8)
    {
      writes.violation(
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
    let counts = AcknowledgedWrites.Event.allCases.map { ($0.rawValue, "\(totals[$0])") }
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
    return (counts + rows + clusterRows).map { "  \($0.0): \($0.1)" }
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
