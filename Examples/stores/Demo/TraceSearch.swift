import ClipboardStore
import Foundation
import GameResultStore
import TabStore

/// Looks for traces of somebody's data: in what the stores hold, and in every file of a device.
struct TraceSearch {
  /// Names of records, and texts without characters that files could spell otherwise.
  private let traces: [String]

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
    self.traces = Set(traces).sorted()
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
    let allText = texts.joined(separator: "\n")
    findings.inMemory = traces.filter { memory.contains($0) || allText.contains($0) }.count

    let folder = device.session.folder
    var found: Set<String> = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      guard let data = FileManager.default.contents(atPath: folder.path + "/" + name) else {
        continue
      }
      findings.files += 1
      findings.bytes += data.count
      for trace in traces where !found.contains(trace) {
        if data.range(of: Data(trace.utf8)) != nil { found.insert(trace) }
      }
    }
    findings.inFiles = found.count
    return findings
  }

  /// A line long enough to be nobody else's, which JSON writes as it is.
  private static func line(in text: String) -> String? {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.first { line in
      line.utf8.count >= 24
        && line.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
  }
}
