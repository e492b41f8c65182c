import Synchronization

/// Counts and times of the answered requests, and the current load, in the text format of
/// Prometheus.
///
/// Call from any task.
package final class ServerMetrics: Sendable {
  /// A value that is read when the text is made.
  struct Gauge: Sendable {
    var name: String
    var help: String
    var type = "gauge"
    /// The name of the label that tells several values apart.
    var label: String?
    /// The values, by the value of the label.
    var values: @Sendable () -> [(label: String, value: any Numeric & Sendable)]

    /// Creates a gauge, or a counter, with one value.
    init(
      name: String, help: String, type: String = "gauge",
      value: @escaping @Sendable () -> any Numeric & Sendable
    ) {
      (self.name, self.help, self.type) = (name, help, type)
      values = { [("", value())] }
    }

    /// Creates a counter with a value for each value of a label.
    init(
      name: String, help: String, by label: String,
      counts: @escaping @Sendable () -> [String: Int]
    ) {
      (self.name, self.help, type, self.label) = (name, help, "counter", label)
      values = { counts().sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
  }

  private struct Times {
    var count = 0
    var total = Duration.zero
    /// The number of requests up to each of the ``ServerMetrics/bounds``.
    var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
  }

  private struct Counts {
    var answers: [String: [Int: Int]] = [:]
    var times: [String: Times] = [:]
    var received = 0
    var sent = 0
    var gauges: [Gauge] = []
  }

  /// The bounds of the histogram, in milliseconds.
  private static let bounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000]

  private let counts = Mutex(Counts())

  /// Creates metrics without counts.
  package init() {}

  /// Adds values that are read when the text is made.
  func add(_ gauges: [Gauge]) { counts.withLock { $0.gauges += gauges } }

  /// Counts a request that was refused by its head.
  func noteRefusal(_ operation: String, _ status: Int) {
    counts.withLock { $0.answers[operation, default: [:]][status, default: 0] += 1 }
  }

  /// Counts an answered request.
  ///
  /// - Parameters:
  ///   - operation: the name of the endpoint, one of few.
  ///   - status: the status; 0 if the response was dropped.
  ///   - time: the time from the complete request to its response.
  func note(_ operation: String, _ status: Int, _ time: Duration, received: Int, sent: Int) {
    counts.withLock { counts in
      counts.answers[operation, default: [:]][status, default: 0] += 1
      counts.received += received
      counts.sent += sent
      var times = counts.times[operation] ?? Times()
      times.count += 1
      times.total += time
      for (index, bound) in Self.bounds.enumerated() where time <= .milliseconds(bound) {
        times.buckets[index] += 1
      }
      counts.times[operation] = times
    }
  }

  /// The text.
  ///
  /// Source: version 0.0.4 of the text format, in the documentation of Prometheus.
  var text: String {
    let (counts, gauges) = counts.withLock { counts in
      var copy = counts
      copy.gauges = []
      return (copy, counts.gauges)
    }
    var lines: [String] = []
    func begin(_ name: String, _ type: String, _ help: String) {
      lines += ["# HELP cloudsync_\(name) \(help)", "# TYPE cloudsync_\(name) \(type)"]
    }
    begin("requests_total", "counter", "Requests by operation and status; status 0 was dropped.")
    for (operation, statuses) in counts.answers.sorted(by: { $0.key < $1.key }) {
      for (status, count) in statuses.sorted(by: { $0.key < $1.key }) {
        lines.append(
          #"cloudsync_requests_total{operation="\#(operation)",status="\#(status)"} \#(count)"#)
      }
    }
    begin("request_seconds", "histogram", "Times from a complete request to its response.")
    for (operation, times) in counts.times.sorted(by: { $0.key < $1.key }) {
      let labels = #"operation="\#(operation)""#
      for (bound, count) in zip(Self.bounds, times.buckets) {
        let seconds = Double(bound) / 1_000
        lines.append(#"cloudsync_request_seconds_bucket{\#(labels),le="\#(seconds)"} \#(count)"#)
      }
      lines += [
        #"cloudsync_request_seconds_bucket{\#(labels),le="+Inf"} \#(times.count)"#,
        "cloudsync_request_seconds_sum{\(labels)} \(times.total / .seconds(1))",
        "cloudsync_request_seconds_count{\(labels)} \(times.count)",
      ]
    }
    begin("received_bytes_total", "counter", "Bytes of the bodies of requests.")
    lines.append("cloudsync_received_bytes_total \(counts.received)")
    begin("sent_bytes_total", "counter", "Bytes of the bodies of responses.")
    lines.append("cloudsync_sent_bytes_total \(counts.sent)")
    for gauge in gauges {
      begin(gauge.name, gauge.type, gauge.help)
      for (label, value) in gauge.values() {
        let labels = gauge.label.map { #"{\#($0)="\#(label)"}"# } ?? ""
        lines.append("cloudsync_\(gauge.name)\(labels) \(value)")
      }
    }
    return (lines + [""]).joined(separator: "\n")
  }
}
