import Foundation

/// Turns measurements into what people and programs read.
enum Report {
  /// How wide each column is; what is longer pushes the rest of its line.
  private static let widths = [4, 58, 10, 10, 7, 12, 7, 7]

  /// The names of the columns.
  static let header = line([
    "row", "what", "ours", "reference", "ratio", "quartiles", "bar", "", "against",
  ])

  /// One measurement as a line of the table.
  static func line(_ measurement: Measurement) -> String {
    line([
      measurement.row ?? "",
      measurement.name,
      amount(measurement.subjectTime, measurement.unit),
      amount(measurement.referenceTime, measurement.unit),
      ratio(measurement.ratio) + "x",
      "\(ratio(measurement.lowRatio))–\(ratio(measurement.highRatio))",
      measurement.goal.map { "\(ratio($0))x" } ?? "–",
      measurement.isMet.map { $0 ? "met" : "MISSED" } ?? "",
      measurement.reference,
    ])
  }

  /// What there is to say after the last line.
  static func summary(_ measurements: [Measurement], seconds: Double) -> String {
    let judged = measurements.compactMap(\.isMet)
    return String(
      format: "%d of %d bars met, %.0f s", judged.filter { $0 }.count, judged.count, seconds)
  }

  /// One JSON document, with the keys in order.
  static func json(_ measurements: [Measurement]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(measurements), as: UTF8.self)
  }

  private static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, text in
      guard column < widths.count else { return text }
      let gap = String(repeating: " ", count: max(0, widths[column] - text.count))
      return column < 2 || column == 7 ? text + gap : gap + text
    }
    .joined(separator: "  ").trimmingEnd()
  }

  static func ratio(_ value: Double) -> String {
    switch value.magnitude {
    case ..<0.1: String(format: "%.3f", value)
    case ..<10: String(format: "%.2f", value)
    default: String(format: "%.1f", value)
    }
  }

  private static func amount(_ value: Double, _ unit: MeasuredUnit) -> String {
    switch unit {
    case .nanoseconds: time(value)
    case .bytes where value >= 1_000_000: String(format: "%.1f MB", value / 1_000_000)
    case .bytes: String(format: "%.1f B", value)
    }
  }

  private static func time(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<1_000: String(format: "%.1f ns", nanoseconds)
    case ..<1_000_000: String(format: "%.2f us", nanoseconds / 1_000)
    case ..<1_000_000_000: String(format: "%.1f ms", nanoseconds / 1_000_000)
    default: String(format: "%.2f s", nanoseconds / 1_000_000_000)
    }
  }
}

extension String {
  fileprivate func trimmingEnd() -> String {
    var text = self
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
