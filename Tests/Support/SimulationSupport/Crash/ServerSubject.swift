import CloudProtocol
import LoopbackServer
import Records
import SQLite

/// The server in a file of SQLite.
package final class ServerSubject: CrashSubject {
  /// One request.
  package struct Change: Sendable {
    var saves: [String: String] = [:]
    var deletions: [String] = []
    var number: Int
  }

  /// The path of the file.
  package static let path = "/server/cloud.sqlite"

  private let server: LoopbackServer
  private let client: CrashClient

  /// The subject's name.
  package static var name: String { "server" }
  /// A new server has no records.
  package static var empty: [String: String] { [:] }
  /// The server goes on after a failure: it takes back what it could not commit.
  package static var refusesAfterFailure: Bool { false }

  /// Opens the server and sees to it that there is a zone.
  package init(on disk: SimulatedDisk) async throws {
    server = try LoopbackServer(
      path: ServerSubject.path, fileSystem: SQLiteFileSystem(disk: disk), identity: 7,
      clock: { Timestamp(secondsSinceReferenceDate: 1_000) })
    client = CrashClient(server)
  }

  /// The texts of all records, by name.
  package func contents() async throws -> [String: String] { try CrashClient.texts(of: server) }

  /// Up to four saves, a deletion, sometimes a text of several pages.
  package static func change(
    _ step: Int, of contents: [String: String], _ random: inout SeededRandom
  ) -> (Change, [String: String]) {
    var change = Change(number: step)
    var next = contents
    for _ in 0...random.below(4) {
      let name = "r\(random.below(8))"
      let length = random.chance(0.1) ? 20_000 : random.below(200)
      let text = "\(step)-\(name)-" + String(repeating: "x", count: length)
      change.saves[name] = text
      next[name] = text
    }
    if random.chance(0.3) {
      let gone = contents.keys.sorted().filter { change.saves[$0] == nil }
      if !gone.isEmpty {
        let name = random.pick(gone)
        change.deletions.append(name)
        next[name] = nil
      }
    }
    return (change, next)
  }

  /// Sends one atomic request, after one for the zone.
  package func apply(_ change: Change) async throws {
    try await client.makeZone("zone")
    try await client.change(
      "step-\(change.number)", saving: change.saves, deleting: change.deletions)
  }

  /// Closes the file.
  package func close() async { server.close() }

  /// Whether it is what the server tells its users or its clients.
  package static func isTyped(_ error: any Error) -> Bool {
    error is ServerFileError || error is CloudError
  }
}
