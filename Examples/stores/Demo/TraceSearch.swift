import ClipboardStore
import Foundation
import GameResultStore
import TabStore

/// Looks for traces of somebody's data: in what the stores hold, and in every file of a device.
struct TraceSearch {
  /// Names of records, and texts without characters that files could spell otherwise.
  private let traces: Set<String>

  /// The traces by their first eight bytes.
  private let byHead: [UInt64: [String]]

  private static let headLength = 8

  /// Everything on `device` that says whose it is.
  init(of device: DemoDevice) {
    var traces: [String] = []
    for tab in device.tabs.tabs {
      traces.append(tab.id.uuidString)
      if let line = Self.line(in: tab.content) { traces.append(line) }
    }
    for entry in device.clipboard.entries {
      traces.append(entry.id.uuidString)
      if let line = entry.text.flatMap(Self.line) { traces.append(line) }
    }
    for result in device.results.results {
      traces.append(result.id.uuidString)
      if let line = Self.line(in: result.sharedText) { traces.append(line) }
    }
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
    var memory = Set(device.tabs.tabs.map(\.id.uuidString))
    memory.formUnion(device.clipboard.entries.map(\.id.uuidString))
    memory.formUnion(device.results.results.map(\.id.uuidString))
    let texts =
      device.tabs.tabs.map(\.content) + device.clipboard.entries.compactMap(\.text)
      + device.results.results.map(\.sharedText)
    memory.formUnion(self.traces(in: Data(texts.joined(separator: "\n").utf8)))
    findings.inMemory = memory.intersection(traces).count

    let folder = device.session.folder
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
