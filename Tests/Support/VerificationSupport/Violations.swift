package import Foundation
import Synchronization

/// The violations that a run found: all are counted, the first ones are kept.
package final class Violations: Sendable {
  private let found = Mutex<(count: Int, first: [String])>((0, []))

  /// Creates an empty list.
  package init() {}

  /// Adds a violation.
  package func add(_ text: String) {
    found.withLock { found in
      found.count += 1
      if found.first.count < 40 { found.first.append(text) }
    }
  }

  /// The number of violations.
  package var count: Int { found.withLock { $0.count } }

  /// Prints the first violations; whether there are none.
  package func report() -> Bool {
    let (count, first) = found.withLock { $0 }
    for text in first { say("violation: \(text)") }
    say("\(count) violations")
    return count == 0
  }
}

/// The value below which `share` of the values lie, interpolated; 0 if there are none.
package func quantile(_ share: Double, of values: [Double]) -> Double {
  guard !values.isEmpty else { return 0 }
  let sorted = values.sorted()
  let position = share * Double(sorted.count - 1)
  let index = Int(position)
  let next = min(index + 1, sorted.count - 1)
  return sorted[index] + (sorted[next] - sorted[index]) * (position - Double(index))
}

/// A new folder for temporary files, which is removed with the object.
package final class TemporaryFolder: Sendable {
  /// The folder.
  package let url: URL
  private let isKept = Mutex(false)

  /// Creates a folder in `root`, or in the system's folder for temporary files.
  package init(_ name: String, in root: URL = FileManager.default.temporaryDirectory) throws {
    url = root.appendingPathComponent("cloudsync-\(name)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    if !isKept.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
  }

  /// The path of a file in the folder.
  package func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Leaves the folder where it is.
  package func keep() { isKept.withLock { $0 = true } }
}
