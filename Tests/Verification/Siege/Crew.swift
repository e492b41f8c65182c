import Foundation
import Synchronization

/// Work on several threads at once; the only place of this tool that starts any.
enum Crew {
  /// Runs `works` beside each other and waits for all.
  static func run(_ works: [@Sendable () -> Void]) {
    let group = DispatchGroup()
    for work in works {
      group.enter()
      let thread = Thread {
        work()
        group.leave()
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    group.wait()
  }

  /// Lets time pass.
  static func pause(seconds: Double) { Thread.sleep(forTimeInterval: seconds) }
}

/// What went wrong, told once for each kind.
final class Violations: Sendable {
  private let found = Mutex<(count: Int, first: [String])>((0, []))

  func add(_ text: String) {
    found.withLock { found in
      found.count += 1
      if found.first.count < 10 { found.first.append(text) }
    }
  }

  var count: Int { found.withLock { $0.count } }

  /// Prints them; whether there are none.
  func report() -> Bool {
    let (count, first) = found.withLock { $0 }
    for text in first { print("VIOLATION: \(text)") }
    print("\(count) violations")
    return count == 0
  }
}
