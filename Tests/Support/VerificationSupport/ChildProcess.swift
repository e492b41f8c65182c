import CommandLineKit
import Foundation
import Synchronization

/// A process of this tool that prints one line when it is ready and ends when its input ends.
///
/// It is started without Foundation's `Process`, which would leave a run loop with its descriptors
/// on each thread that starts one.
package final class ChildProcess: Sendable {
  /// The process ID.
  package var id: Int32 { process.id }
  /// The words of the line that it printed.
  package let greeting: [String]
  private let process: StartedProcess
  private let input: Mutex<FileHandle?>

  /// Starts a process and returns when it is ready.
  package init(_ words: [String]) throws {
    let (input, output) = (Pipe(), Pipe())
    var tool = ToolProcess(
      program: URL(fileURLWithPath: words[0]), arguments: Array(words.dropFirst()))
    tool.input = input.fileHandleForReading
    tool.output = output.fileHandleForWriting
    tool.errors = .standardError
    process = try tool.start()
    self.input = Mutex(input.fileHandleForWriting)
    try output.fileHandleForWriting.close()
    let reading = output.fileHandleForReading
    var line = Data()
    while line.last != UInt8(ascii: "\n"), let byte = try reading.read(upToCount: 1), !byte.isEmpty
    {
      line += byte
    }
    greeting = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .map(String.init)
    if line.last != UInt8(ascii: "\n") {
      try? input.fileHandleForWriting.close()
      throw ToolError(
        "the child process '\(words.prefix(2).joined(separator: " "))' did not start")
    }
  }

  /// In the child: prints the greeting, and returns when the input ends.
  package static func serve(_ greeting: [String]) throws {
    say(greeting.joined(separator: " "))
    while let bytes = try FileHandle.standardInput.read(upToCount: 1), !bytes.isEmpty {}
  }

  /// The exit code, or the signal with a minus sign; `nil` while the process runs.
  package var status: Int32? { process.status }

  /// Ends the input of the process and returns its status when it has ended.
  package func stop() async -> Int32 {
    input.withLock { input in
      try? input?.close()
      input = nil
    }
    return await process.exitCode()
  }

  /// Kills the process and returns when it has ended.
  package func kill() async {
    process.send(SIGKILL)
    _ = await stop()
  }
}
