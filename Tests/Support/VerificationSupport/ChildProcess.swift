import CommandLineKit
import Foundation
import Synchronization

/// A process of this tool that prints one line when it is ready and ends when its input ends.
///
/// It is started without Foundation's `Process`, which would leave a run loop with its descriptors
/// on each thread that starts one.
package final class ChildProcess: Sendable {
  /// The process ID.
  package let id: Int32
  /// The words of the line that it printed.
  package let greeting: [String]
  private let input: Mutex<Int32?>
  private let ended = Mutex<Int32?>(nil)

  /// Starts a process and returns when it is ready.
  package init(_ words: [String]) throws {
    let (input, output) = (try Self.pipeEnds(), try Self.pipeEnds())
    id = try spawn(words, input: input.reading, output: output.writing)
    self.input = Mutex(input.writing)
    close(input.reading)
    close(output.writing)
    let reading = FileHandle(fileDescriptor: output.reading, closeOnDealloc: true)
    var line = Data()
    while line.last != UInt8(ascii: "\n"), let byte = try reading.read(upToCount: 1), !byte.isEmpty
    {
      line += byte
    }
    greeting = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .map(String.init)
    if line.last != UInt8(ascii: "\n") {
      close(input.writing)
      waitpid(id, nil, 0)
      throw ToolError("the child process did not start")
    }
  }

  /// In the child: prints the greeting, and returns when the input ends.
  package static func serve(_ greeting: [String]) throws {
    say(greeting.joined(separator: " "))
    while let bytes = try FileHandle.standardInput.read(upToCount: 1), !bytes.isEmpty {}
  }

  /// The exit code, or the signal with a minus sign; `nil` while the process runs.
  package var status: Int32? {
    ended.withLock { ended in
      if ended != nil { return ended }
      var status: Int32 = 0
      let found = waitpid(id, &status, WNOHANG)
      if found == id {
        let signal = status & 0x7f
        ended = signal == 0 ? (status >> 8) & 0xff : -signal
      } else if found < 0, errno != EINTR {
        ended = -1
      }
      return ended
    }
  }

  /// Ends the input of the process and returns its status when it has ended.
  package func stop() async -> Int32 {
    input.withLock { input in
      if let input { close(input) }
      input = nil
    }
    while true {
      if let status { return status }
      try? await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Kills the process and returns when it has ended.
  package func kill() async {
    if status == nil { _ = Foundation.kill(id, SIGKILL) }
    _ = await stop()
  }

  /// A pipe whose ends no other program inherits.
  private static func pipeEnds() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ToolError("no pipe can be made") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
