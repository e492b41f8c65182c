import Foundation

/// Searches the stores and all files of a device for a user's data.
struct TraceSearch {
  /// Names of records, and texts without characters that files may encode differently.
  private let traces: Set<String>

  /// The traces by their first eight bytes.
  private let byHead: [UInt64: [String]]

  private static let headLength = 8

  init(of traces: Traces) {
    let lines = traces.texts.compactMap(Self.line)
    let traces = traces.names.filter { $0.utf8.count >= Self.headLength } + lines
    self.traces = Set(traces)
    byHead = Dictionary(grouping: self.traces) { trace in
      Array(trace.utf8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
  }

  var count: Int { traces.count }

  struct Findings {
    var inMemory = 0
    var inFiles = 0
    var files = 0
    var bytes = 0
  }

  /// Searches the device's stores and its folder.
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

  /// The traces in `data`, found in one pass.
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

  /// A line that is long enough to be distinctive, and that JSON does not escape.
  private static func line(in text: String) -> String? {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.first { line in
      line.utf8.count >= 24
        && line.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
  }
}
