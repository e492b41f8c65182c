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

  private let path: String
  private let file: Mutex<RequestLogFile>
  private let isJSON: Bool
  private let queue = DispatchQueue(label: "request log")
  private let waiting = Atomic(0)
  /// The lines that were lost since the latest one that was written.
  private let lost = Atomic(0)

  /// Opens the file, which is created or continued; `-` is standard error.
  init(_ path: String, isJSON: Bool) throws(ToolError) {
    self.path = path
    self.isJSON = isJSON
    let opened = try path == "-" ? RequestLogFile.standardError : RequestLogFile(path)
    file = Mutex(opened)
  }

  /// Adds the line of a request; a line that can't be written is lost, and counted in the next one
  /// that can.
  func note(_ request: LoopbackWebServer.LoggedRequest) {
    guard waiting.load(ordering: .relaxed) < Self.mostWaiting else {
      lost.add(1, ordering: .relaxed)
      return
    }
    waiting.add(1, ordering: .relaxed)
    let line = isJSON ? Self.json(request) : Self.text(request)
    queue.async {
      self.append(line)
      self.waiting.subtract(1, ordering: .relaxed)
    }
  }

  /// Opens the file at the path again after the lines so far, because the open one was moved.
  ///
  /// If that fails, it prints why, and the log goes on in the file that was moved.
  func reopen() {
    guard path != "-" else { return }
    queue.async {
      do throws(ToolError) {
        let opened = try RequestLogFile(self.path)
        let old = self.file.withLock { file in
          defer { file = opened }
          return file
        }
        old.close()
      } catch {
        Output.writeError("cloudsync: \(error.description)\n")
      }
    }
  }

  private func append(_ line: String) {
    let missing = lost.exchange(0, ordering: .relaxed)
    let notice = missing == 0 ? "" : isJSON ? Self.json(lost: missing) : Self.text(lost: missing)
    let isNoticed = file.withLock { file in
      // A line that the disk had no space for ends here, and the next one begins.
      guard file.append((file.isCut ? "\n" : "") + notice) else { return false }
      if !file.append(line) { lost.add(1, ordering: .relaxed) }
      return true
    }
    if !isNoticed { lost.add(missing + 1, ordering: .relaxed) }
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

  private static func text(lost: Int) -> String {
    "\(timestamp(Date()))  \(count(lost, "line")) \(lost == 1 ? "was" : "were") lost\n"
  }

  private static func json(lost: Int) -> String {
    JSON.members(["time": .string(timestamp(Date())), "lostLines": .integer(lost)]).text + "\n"
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
