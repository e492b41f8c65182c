import CommandLineKit
import Foundation
import StateInspection

/// `trace`: prints an engine's trace as a timeline.
enum Traces {
  /// Prints the trace in a file.
  ///
  /// - Returns: 0, or 1 if the file contains no entry.
  static func show(_ path: String, _ output: Output) throws -> CInt {
    let lines = String(decoding: try readFile(path), as: UTF8.self)
    let timeline = SyncTraceTimeline(lines: lines)
    guard !timeline.entries.isEmpty else {
      throw ToolError(
        "\(quoted(path)) is not a trace; give a file that a JSONLinesTracer wrote",
        code: ExitCode.data)
    }
    if output.isJSON {
      Output.write(try Output.json(timeline) + "\n")
    } else {
      Output.write(timeline.text)
    }
    return 0
  }
}
