import CommandLineKit
import Dispatch
import Foundation
import LoopbackHTTP
import Synchronization
import WebServices

/// A log of the answered requests: a line for each, in a file or on standard error.
///
/// The lines contain no tokens, names or content. They are written by a queue of their own: the
/// thread that answers requests does not wait for a slow disk, or for the reader of a pipe.
final class RequestLog: Sendable {
  /// The most lines that wait to be written; further ones are lost.
  private static let mostWaiting = 10_000

  private let file: Mutex<FileHandle>
  private let isJSON: Bool
  private let queue = DispatchQueue(label: "request log")
  private let waiting = Atomic(0)

  /// Opens the file, which is created or continued; `-` is standard error.
  init(_ path: String, isJSON: Bool) throws(ToolError) {
    self.isJSON = isJSON
    guard path != "-" else {
      file = Mutex(.standardError)
      return
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ToolError.cannotWrite(path) }
    file = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
  }

  /// Adds the line of a request; a line that can't be written is lost.
  func note(_ request: LoopbackWebServer.LoggedRequest) {
    guard waiting.load(ordering: .relaxed) < Self.mostWaiting else { return }
    waiting.add(1, ordering: .relaxed)
    let line = Data((isJSON ? Self.json(request) : Self.text(request)).utf8)
    queue.async {
      self.file.withLock { try? $0.write(contentsOf: line) }
      self.waiting.subtract(1, ordering: .relaxed)
    }
  }

  /// Waits until the lines so far are written, for a second at most.
  func finish() {
    let end = DispatchWorkItem {}
    queue.async(execute: end)
    _ = end.wait(timeout: .now() + 1)
  }

  private static func milliseconds(_ time: Duration) -> Double {
    (time / .milliseconds(1) * 100).rounded() / 100
  }

  private static func text(_ request: LoopbackWebServer.LoggedRequest) -> String {
    let status = request.status == 0 ? "dropped" : "\(request.status)"
    return "\(timestamp(Date()))  \(request.method)  \(request.operation)  \(status)  "
      + "\(milliseconds(request.duration)) ms  \(request.received) B in  \(request.sent) B out\n"
  }

  private static func json(_ request: LoopbackWebServer.LoggedRequest) -> String {
    JSON.members([
      "time": .string(timestamp(Date())), "method": .string(request.method),
      "operation": .string(request.operation), "status": .integer(request.status),
      "milliseconds": .number(milliseconds(request.duration)),
      "received": .integer(request.received), "sent": .integer(request.sent),
    ]).text + "\n"
  }
}
