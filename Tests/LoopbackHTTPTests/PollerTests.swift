import Foundation
import Synchronization
import Testing

@testable import LoopbackHTTP

@Suite("Waiting for sockets and for work")
struct PollerTests {
  /// What happens on the poller's thread, in order.
  private final class Journal: Sendable {
    let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var count: Int { lines.withLock { $0.count } }
  }

  private func pipe() throws -> (reading: Int32, writing: Int32) {
    try #require(HTTPSocket.makeBell())
  }

  private func write(_ descriptor: Int32) {
    [UInt8(7)].withUnsafeBytes { _ = HTTPSocket.write(descriptor, $0) }
  }

  private func read(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) {
      _ = HTTPSocket.read(descriptor, into: $0)
    }
  }

  @Test("Events come while a watch is on, never while it is paused or removed; then it is released")
  func story() throws {
    let poller = HTTPPoller()
    let journal = Journal()
    let (first, second) = (try pipe(), try pipe())
    poller.execute {
      let watch = poller.watch(first.reading, writing: false) {
        read(first.reading)
        journal.note("first")
      }
      let other = poller.watch(second.reading, writing: false) {
        read(second.reading)
        journal.note("second")
      }
      poller.set(watch, nil)
      write(first.writing)
      write(second.writing)
      poller.execute {
        poller.set(other, nil)
        poller.set(watch, first.reading)
        write(second.writing)
        poller.execute {
          // Both have something now, and the one that is removed says nothing of it.
          write(first.writing)
          poller.set(other, second.reading)
          poller.remove(watch) {
            journal.note("released")
            poller.remove(other) { poller.end() }
          }
          poller.remove(watch) { journal.note("released twice") }
        }
      }
    }
    poller.run()
    #expect(journal.lines.withLock { $0 } == ["second", "first", "second", "released"])
    for end in [first.reading, first.writing, second.reading, second.writing] {
      HTTPSocket.release(end)
    }
  }

  @Test("Work from other threads wakes it, however much comes; it ends when all is done")
  func work() async {
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

  @Test("Connections that come and go quickly on both of their watches do no harm")
  func churn() async throws {
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
