import Foundation

/// Turns measurements into what people and programs read.
enum Report {
  /// One line of the table.
  private typealias Row = [String]

  private static let header: Row = [
    "benchmark", "ratio", "quartiles", "goal", "time", "95 %", "a second", "against",
  ]

  /// A table for people: one line for each measurement, columns aligned.
  static func table(_ measurements: [Measurement]) -> String {
    let rows = [header] + measurements.map(row)
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - row[column].count)
        let isText = column == 0 || column == row.count - 1
        return isText ? row[column] + gap : gap + row[column]
      }
      .joined(separator: "  ").trimmingEnd()
    }
    .joined(separator: "\n")
  }

  /// One JSON document, with the keys in order.
  static func json(_ measurements: [Measurement]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(measurements), as: UTF8.self)
  }

  private static func row(_ measurement: Measurement) -> Row {
    [
      measurement.name,
      ratio(measurement.ratio) + "x",
      "\(ratio(measurement.lowRatio))–\(ratio(measurement.highRatio))",
      measurement.goal.map { "\(ratio($0))x" } ?? "–",
      amount(measurement.subjectTime, measurement.unit),
      amount(measurement.slowSubjectTime, measurement.unit),
      measurement.unit == .bytes ? "–" : rate(measurement.subjectTime),
      "\(measurement.reference): \(amount(measurement.referenceTime, measurement.unit))",
    ]
  }

  private static func ratio(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : "%.1f", value)
  }

  private static func rate(_ nanoseconds: Double) -> String {
    let rate = 1e9 / max(nanoseconds, 1e-9)
    return rate < 10_000 ? String(format: "%.0f", rate) : String(format: "%.0fk", rate / 1_000)
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
    case ..<1_000_000: String(format: "%.1f us", nanoseconds / 1_000)
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
