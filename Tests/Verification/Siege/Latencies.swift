/// How long answers took, in milliseconds.
struct Latencies {
  private var samples: [Double] = []

  var count: Int { samples.count }

  mutating func add(_ duration: Duration) {
    let parts = duration.components
    samples.append(Double(parts.seconds) * 1000 + Double(parts.attoseconds) / 1e15)
  }

  /// The time that `share` of all answers took at most.
  func percentile(_ share: Double) -> Double {
    guard !samples.isEmpty else { return 0 }
    let sorted = samples.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  /// Three figures and how many answers they are about.
  var line: String {
    "p50 \(Figure.text(percentile(0.5))) ms, p99 \(Figure.text(percentile(0.99))) ms, "
      + "longest \(Figure.text(percentile(1))) ms of \(count)"
  }
}

/// Numbers for people.
enum Figure {
  /// A number with three digits behind the point.
  static func text(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    let rest = String(abs(thousandths) % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }

  /// A size in KiB, as MiB.
  static func mebibytes(_ kilobytes: Int) -> String { text(Double(kilobytes) / 1024) + " MiB" }
}
