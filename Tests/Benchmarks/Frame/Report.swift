import CommandLineKit
import Foundation
import VerificationSupport

/// The measurements of one run, as `bench.json` contains them.
struct Report: Codable {
  var run = RunRecord.current
  var measurements: [Measurement] = []

  /// The document, with sorted keys.
  var json: String { get throws { try Output.json(self) } }

  /// The number of bars that are met.
  var summary: String {
    let judged = measurements.compactMap(\.isMet)
    return "\(judged.count { $0 }) of \(judged.count) bars met"
  }

  /// Writes `bench.json`, and the table of `README.md`, in `folder`.
  func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(try json.utf8).write(to: folder.appendingPathComponent("bench.json"))
    try RunRecord.write(lines, to: folder.appendingPathComponent("README.md"))
  }

  /// The table in Markdown.
  private var lines: [String] {
    [
      "\(run.date), commit `\(run.commit)`, \(run.machine): \(summary).", "",
      "| row | measured | reference | ratio | quartiles | bar |", "|---|---|---|---|---|---|",
    ]
      + measurements.map { one in
        let cells = [
          one.row ?? "", "\(one.name): \(one.amount(one.subjectTime))",
          "\(one.reference): \(one.amount(one.referenceTime))",
          one.isMet == false ? "**\(Measurement.text(one.ratio))x**" : one.ratioText,
          one.quartiles, one.goal.map { "\(Measurement.text($0))x" } ?? "",
        ]
        return "| \(cells.joined(separator: " | ")) |"
      }
  }
}

extension Measurement {
  /// The measurement in one line.
  var line: String {
    let bar = goal.map { ", bar \(Self.text($0))x \(isMet == true ? "met" : "MISSED")" } ?? ""
    return "\(row.map { $0 + " " } ?? "")\(name): \(ratioText) (\(quartiles))\(bar); "
      + "\(amount(subjectTime)) against \(amount(referenceTime)) (\(reference))"
  }

  fileprivate var ratioText: String { Self.text(ratio) + "x" }
  fileprivate var quartiles: String { "\(Self.text(lowRatio))–\(Self.text(highRatio))" }

  fileprivate static func text(_ value: Double) -> String {
    let digits = value.magnitude < 0.1 ? 3 : value.magnitude < 10 ? 2 : 1
    return String(format: "%.\(digits)f", value)
  }

  /// A time or a size with a unit that fits.
  fileprivate func amount(_ value: Double) -> String {
    let units =
      unit == .bytes
      ? [(1e6, "MB"), (1, "B")] : [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")]
    let (size, name) = units.first { value >= $0.0 } ?? (1, units[units.count - 1].1)
    return String(format: "%.1f ", value / size) + name
  }
}
