// Faults that a sanitizer must report, and work that it must not report; one by name.

import Foundation
import Synchronization

final class Counters: Sendable {
  let guarded = Mutex(0)
  /// Two numbers that nothing guards but what its users do.
  nonisolated(unsafe) let plain = UnsafeMutablePointer<Int>.allocate(capacity: 2)

  init() { plain.initialize(repeating: 0, count: 2) }
}

/// A pair that keeps itself alive when nobody knows it any more.
final class Twin {
  var other: Twin?
}

/// Runs `body` many times on each of four threads, all at once.
func race(_ body: @escaping @Sendable () -> Void) {
  let ends = DispatchSemaphore(value: 0)
  for _ in 0..<4 {
    Thread {
      for _ in 0..<20_000 { body() }
      ends.signal()
    }.start()
  }
  for _ in 0..<4 { ends.wait() }
}

@inline(never) func leak() {
  let (one, other) = (Twin(), Twin())
  one.other = other
  other.other = one
}

@inline(never) func read(_ numbers: UnsafeMutablePointer<Int>, at index: Int) -> Int {
  numbers[index]
}

let counters = Counters()
switch CommandLine.arguments.dropFirst().first {
case "guarded":
  race {
    counters.guarded.withLock {
      $0 += 1
      counters.plain[0] += 1
    }
  }
case "beside-the-lock":
  race {
    counters.guarded.withLock { $0 += 1 }
    counters.plain[1] += 1
  }
case "no-lock":
  race { counters.plain[0] += 1 }
case "leak":
  for _ in 0..<3 { leak() }
case "overrun":
  print(read(counters.plain, at: 2))
case "freed":
  counters.plain.deallocate()
  print(read(counters.plain, at: 0))
default:
  print("which one?")
  exit(2)
}
