import Foundation
import LoopbackServer
import Synchronization

/// Points at which the process kills itself, for the demo and tests of crashes.
enum CrashPoint {
  /// The variable that, set to 1, kills the process at the end of its command.
  static let afterCommand = "CLOUDSYNC_STORES_DIE_AFTER_COMMAND"

  /// The variable with a number of requests, after which the process is killed before the last
  /// response arrives.
  static let afterRequest = "CLOUDSYNC_STORES_DIE_AFTER_REQUEST"

  /// Kills the process if the environment says so.
  static func pass(_ environment: [String: String]) {
    if environment[afterCommand] == "1" { die() }
  }

  private static let countdown = ProcessInfo.processInfo.environment[afterRequest]
    .flatMap { Int($0) }.map { Countdown($0) }

  /// Prepares the kill in the middle of a request, if the environment says so.
  static func prepare(_ server: LoopbackServer) {
    guard let countdown else { return }
    server.controls.runAfterCommit(next: countdown.count) { _ in
      if countdown.isOver() { die() }
    }
  }

  /// Kills the process after the last request to an HTTP server, before its response is used.
  static func passRequest() {
    if let countdown, countdown.isOver() { die() }
  }

  private final class Countdown: Sendable {
    let count: Int
    private let left: Mutex<Int>

    init(_ count: Int) {
      self.count = count
      left = Mutex(count)
    }

    func isOver() -> Bool {
      left.withLock { left in
        left -= 1
        return left <= 0
      }
    }
  }

  private static func die() { kill(getpid(), SIGKILL) }
}
