import Dispatch
import Testing

@testable import LoopbackHTTP

@Suite("The threads of servers", .timeLimit(.minutes(20)))
struct EventLoopTests {
  @Test("Queues run beside more servers than a process has threads for queues")
  func queuesRunBesideManyServers() async {
    let loops = (0..<300).map { _ in HTTPEventLoop() }
    for loop in loops {
      await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "beside").async { continuation.resume() }
    }
    withExtendedLifetime(loops) {}
  }
}
