import Foundation
import LoopbackServer
import Synchronization

/// Places where a process dies as in a crash, for the demo and the tests that start one.
enum CrashPoint {
  /// Set to 1, the process dies when its command is done and before it could say goodbye.
  static let afterCommand = "CLOUDSYNC_STORES_DIE_AFTER_COMMAND"

  /// Set to a number, the process dies when the server has carried out that many requests and
  /// the last one's answer has not left.
  static let afterRequest = "CLOUDSYNC_STORES_DIE_AFTER_REQUEST"

  /// Ends the process without any goodbye when the environment asks for it.
  static func pass(_ environment: [String: String]) {
    if environment[afterCommand] == "1" { die() }
  }

  private static let countdown = ProcessInfo.processInfo.environment[afterRequest]
    .flatMap { Int($0) }.map { Countdown($0) }

  /// Sees to it that the process dies in the middle of a request when the environment asks for it.
  static func prepare(_ server: LoopbackServer) {
    guard let countdown else { return }
    server.controls.runAfterCommit(next: countdown.count) { _ in
      if countdown.isOver() { die() }
    }
  }

  /// Ends the process when a server by HTTP has carried out its last request, before anybody
  /// here hears of that.
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
