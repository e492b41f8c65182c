import CloudSync
import CommandLineKit
import Foundation

/// `trace`: prints an engine's trace as a timeline.
enum Traces {
  /// Prints the trace in a file.
  ///
  /// - Returns: 0, or 1 if the file contains no entry.
  static func show(_ path: String, _ output: Output) throws -> CInt {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Tool.Failure(code: 1, description: "\(path) cannot be read; give a file of a tracer.")
    }
    let timeline = SyncTraceTimeline(lines: String(decoding: data, as: UTF8.self))
    guard !timeline.entries.isEmpty else {
      throw Tool.Failure(
        code: 1, description: "\(path) is not a trace; give a file that a JSONLinesTracer wrote.")
    }
    if output.isJSON {
      Output.write(try Output.json(timeline) + "\n")
    } else {
      Output.write(timeline.text)
    }
    return 0
  }
}
