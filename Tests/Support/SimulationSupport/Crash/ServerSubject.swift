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

  /// Where the file is.
  package static let path = "/server/cloud.sqlite"
  private static let zone = ZoneID(name: "Notes")
  private static let container = "iCloud.com.example.crash"

  private let server: LoopbackServer
  private let device: LoopbackDevice

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
    device = server.device("phone", signedInAs: "alice")
  }

  /// The texts of all records, by name; a zone that was not made yet has none.
  package func contents() async throws -> [String: String] {
    do throws(CloudError) {
      let records = try server.records(
        in: ServerSubject.zone, container: ServerSubject.container, account: "alice")
      return Dictionary(uniqueKeysWithValues: records.map { ($0.id.name, ServerSubject.text($0)) })
    } catch {
      if error.code == .zoneNotFound || error.code == .unknownItem { return [:] }
      throw error
    }
  }

  private static func text(_ record: Record) -> String {
    guard case .string(let text)? = record.fields["text"]?.value else { return "" }
    return text
  }

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

  /// Sends one atomic request, behind one for the zone.
  package func apply(_ change: Change) async throws {
    let zone = ServerSubject.zone
    _ = try await device.send(call("zone", .modifyZones(ModifyZones(save: [zone]))))
    let saves = change.saves.sorted { $0.key < $1.key }.map { name, text in
      RecordSave(
        id: RecordID(name: name, zone: zone), type: "Note",
        changes: [.init(key: "text", field: Field(.string(text)))])
    }
    let deletions = change.deletions.map { RecordID(name: $0, zone: zone) }
    let request = ModifyRecords(save: saves, delete: deletions, policy: .allKeys)
    _ = try await device.send(call("step-\(change.number)", .modifyRecords(request)))
  }

  private func call(_ id: String, _ request: CloudRequest) -> CloudCall {
    CloudCall(
      container: ServerSubject.container, database: .private, requestID: id, request: request)
  }

  /// Closes the file.
  package func close() async { server.close() }

  /// Whether it is what the server tells its users or its clients.
  package static func isTyped(_ error: any Error) -> Bool {
    error is ServerFileError || error is CloudError
  }
}
