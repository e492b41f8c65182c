import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import VerificationSupport

/// The cost of the console for a server.
enum ConsoleBenchmarks {
  private static let count = 1_000_000
  private static let writes = 10

  /// P29 and P30: a page of a large zone, and what an open console costs a server in a second.
  static func all() -> [Benchmark] {
    let world = Once { try await World() }
    return [
      page("the first", of: world) { _ in nil },
      page("one in the middle", of: world) { $0.middle },
      Benchmark(
        name: "P30 an open console, a second with 10 writes, 1,000,000 records", goal: 1,
        subject: Side("the console's requests") { try await world.value.second() },
        reference: Side("5 % of a second") { .milliseconds(50) }),
    ]
  }

  private static func page(
    _ name: String, of world: Once<World>, after place: @escaping @Sendable (World) -> Int?
  ) -> Benchmark {
    Benchmark(
      name: "P29 a page of the console, \(name) of 1,000,000 records", goal: 1,
      subject: Side("200 records over HTTP") {
        let world = try await world.value
        let start = ContinuousClock.now
        try await world.ask(world.records(after: place(world)))
        return ContinuousClock.now - start
      },
      reference: Side("0.1 s") { .milliseconds(100) })
  }

  /// A server in a file with a large zone, and the requests of the page.
  private struct World: Sendable {
    let server: BenchServer
    let middle = count / 2

    init() async throws { server = try await BenchServer.holding(count, in: .web) }

    private var zone: String {
      "container=\(BenchServer.container)&environment=development&account=alice"
    }

    func records(after place: Int? = nil) -> String {
      "records?\(zone)&zone=Notes&order=latest&numbersAsStrings=true"
        + (place.map { "&after=\($0)" } ?? "")
    }

    /// Sends a request of the control interface on a connection of its own.
    func ask(_ target: String) async throws {
      guard let web = server.web else { throw ToolError("the server is not behind HTTP") }
      let request = HTTPMessage.request(
        "GET", "/cloudsync/1/\(target)", host: "127.0.0.1:\(web.port)",
        fields: "authorization: Bearer \(web.controlToken)\r\n", body: [])
      _ = try await askOnThread(request, 1, port: web.port)
    }

    /// The time of the requests that a console sends in a second with ten writes: one for the
    /// events after each write, and one refresh.
    func second() async throws -> Duration {
      var seen = server.server.events(after: 0, limit: .max).next
      var time = Duration.zero
      for number in 0..<writes {
        try await server.save(
          [RecordSave(SpikeNote.sample(number, name: "new").record)], policy: .allKeys)
        time += try await timed("events?after=\(seen)")
        seen = server.server.events(after: seen).next
      }
      for target in [
        "status", "accounts", "databases", "devices",
        "schema?container=\(BenchServer.container)&environment=development", "zones?\(zone)",
        "subscriptions?\(zone)&scope=private", records(),
        "changes?\(zone)&zone=Notes&latest=40&limit=10000",
      ] { time += try await timed(target) }
      return time
    }

    private func timed(_ target: String) async throws -> Duration {
      let start = ContinuousClock.now
      try await ask(target)
      return ContinuousClock.now - start
    }
  }
}
