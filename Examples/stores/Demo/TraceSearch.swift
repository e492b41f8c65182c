import Foundation

/// Looks for traces of somebody's data: in what the stores hold, and in every file of a device.
struct TraceSearch {
  /// Names of records, and texts without characters that files could spell otherwise.
  private let traces: Set<String>

  /// The traces by their first eight bytes.
  private let byHead: [UInt64: [String]]

  private static let headLength = 8

  /// All that says whose the data is.
  init(of traces: Traces) {
    let lines = traces.texts.compactMap(Self.line)
    let traces = traces.names.filter { $0.utf8.count >= Self.headLength } + lines
    self.traces = Set(traces)
    byHead = Dictionary(grouping: self.traces) { trace in
      Array(trace.utf8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
  }

  /// How many traces are looked for.
  var count: Int { traces.count }

  /// What was found.
  struct Findings {
    var inMemory = 0
    var inFiles = 0
    var files = 0
    var bytes = 0
  }

  /// Looks through the device's stores and its folder.
  func search(_ device: DemoDevice) throws -> Findings {
    var findings = Findings()
    let now = device.traces
    var memory = Set(now.names)
    memory.formUnion(self.traces(in: Data(now.texts.joined(separator: "\n").utf8)))
    findings.inMemory = memory.intersection(traces).count

    let folder = device.session.device.folder
    var found: Set<String> = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      guard let data = FileManager.default.contents(atPath: folder.path + "/" + name) else {
        continue
      }
      findings.files += 1
      findings.bytes += data.count
      found.formUnion(self.traces(in: data))
    }
    findings.inFiles = found.count
    return findings
  }

  /// The traces that are somewhere in `data`: one walk over it, whatever their number.
  private func traces(in data: Data) -> Set<String> {
    var found: Set<String> = []
    data.withUnsafeBytes { bytes in
      for start in 0..<max(0, bytes.count - Self.headLength + 1) {
        let head = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        guard let candidates = byHead[head] else { continue }
        for trace in candidates where !found.contains(trace) {
          if bytes[start...].starts(with: trace.utf8) { found.insert(trace) }
        }
      }
    }
    return found
  }

  /// A line long enough to be nobody else's, which JSON writes as it is.
  private static func line(in text: String) -> String? {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.first { line in
      line.utf8.count >= 24
        && line.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
  }
}
