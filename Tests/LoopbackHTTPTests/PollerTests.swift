import Foundation
import Synchronization
import Testing

@testable import LoopbackHTTP

@Suite("Waiting for sockets and for work")
struct PollerTests {
  /// The events on the poller's thread, in order.
  private final class Journal: Sendable {
    let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var count: Int { lines.withLock { $0.count } }
  }

  private func pipe() throws -> (reading: Int32, writing: Int32) {
    try #require(HTTPSocket.makeWakePipe())
  }

  private func write(_ descriptor: Int32) {
    [UInt8(7)].withUnsafeBytes { _ = HTTPSocket.write(descriptor, $0) }
  }

  private func read(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) {
      _ = HTTPSocket.read(descriptor, into: $0)
    }
  }

  @Test("Events arrive while a watch is active, not when paused or removed; then it is released")
  func pollerReportsEventsOnlyWhileWatched() throws {
    let poller = HTTPPoller()
    let journal = Journal()
    let (first, second) = (try pipe(), try pipe())
    let (one, two) = (first.reading, second.reading)
    poller.execute {
      poller.watch(one, writing: false) {
        read(one)
        journal.note("first")
        // Both have something now; the one that is removed says nothing of it.
        write(first.writing)
        write(second.writing)
        poller.set(two, writing: false, isPaused: false)
        poller.remove(one, writing: false) { journal.note("released") }
      }
      poller.watch(two, writing: false) {
        read(two)
        journal.note("second")
        if journal.count == 1 {
          poller.set(two, writing: false, isPaused: true)
          poller.set(one, writing: false, isPaused: false)
        } else {
          poller.remove(two, writing: false) { poller.end() }
        }
      }
      poller.set(one, writing: false, isPaused: true)
      write(first.writing)
      write(second.writing)
    }
    poller.run()
    #expect(journal.lines.withLock { $0 } == ["second", "first", "released", "second"])
    for end in [first.reading, first.writing, second.reading, second.writing] {
      HTTPSocket.release(end)
    }
  }

  @Test("Work from other threads wakes the poller in any amount, and it ends when all is done")
  func workFromOtherThreadsWakesPoller() async {
    let poller = HTTPPoller()
    let journal = Journal()
    let threads = 8
    async let running: Void = withCheckedContinuation { continuation in
      Thread.detachNewThread {
        poller.run()
        continuation.resume()
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<threads {
        group.addTask {
          for _ in 0..<2000 { poller.execute { journal.note("\(number)") } }
        }
      }
    }
    poller.end()
    await running
    #expect(journal.count == threads * 2000)
  }

  @Test("Connections that open and close rapidly while watched both ways do no harm")
  func rapidConnectionChangesAreHarmless() async throws {
    try await ServerHarness.run { harness in
      for round in 0..<40 {
        let clients = try (0..<25).map { _ in try harness.client(receiveBuffer: 4096) }
        for (index, client) in clients.enumerated() {
          await client.send(harness.get(index.isMultiple(of: 2) ? "/big" : "/a"))
          if (index + round).isMultiple(of: 3) { await client.endWriting() }
        }
        for client in clients { await client.close() }
      }
      #expect(try await harness.client().ask(harness.get("/a")).text == "GET /a")
      await harness.reach(connections: 0)
    }
  }
}
