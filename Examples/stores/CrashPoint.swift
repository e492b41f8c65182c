import Foundation
import Synchronization

/// Points at which the process kills itself, for the demo and tests of crashes.
enum CrashPoint {
  /// The variable that, set to 1, kills the process at the end of its command.
  static let afterCommand = "CLOUDSYNC_STORES_DIE_AFTER_COMMAND"

  /// The variable with a number of requests, after which the process is killed before the last
  /// response arrives.
  private static let afterRequest = "CLOUDSYNC_STORES_DIE_AFTER_REQUEST"

  private static let requestsLeft = Mutex(
    ProcessInfo.processInfo.environment[afterRequest].flatMap { Int($0) })

  /// Kills the process at the end of a command if the environment says so.
  static func passCommand(_ environment: [String: String]) {
    if environment[afterCommand] == "1" { die() }
  }

  /// Kills the process after the last request, before its response is used.
  static func passRequest() {
    let left = requestsLeft.withLock { left in
      left = left.map { $0 - 1 }
      return left
    }
    if let left, left <= 0 { die() }
  }

  private static func die() { kill(getpid(), SIGKILL) }
}
