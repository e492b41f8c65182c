import CloudProtocol
package import LoopbackServer
import Records

/// A client that changes records with a text on a server in this process.
package struct CrashClient: Sendable {
  private static let zone = ZoneID(name: "Notes")
  private static let container = "iCloud.com.example.crash"
  private let device: LoopbackDevice

  /// Creates a client of `server`.
  package init(_ server: LoopbackServer) {
    device = server.device("phone", signedInAs: "alice")
  }

  /// Creates the zone, unless it exists.
  package func makeZone(_ requestID: String) async throws {
    try await send(requestID, .modifyZones(ModifyZones(save: [CrashClient.zone])))
  }

  /// Saves and deletes records by name in one request; the change is durable when this returns.
  package func change(
    _ requestID: String, saving texts: [String: String], deleting names: [String] = []
  ) async throws {
    let saves = texts.sorted { $0.key < $1.key }.map { name, text in
      RecordSave(
        id: RecordID(name: name, zone: CrashClient.zone), type: "Note",
        changes: [.init(key: "text", field: Field(.string(text)))])
    }
    let deletions = names.map { RecordID(name: $0, zone: CrashClient.zone) }
    try await send(
      requestID,
      .modifyRecords(ModifyRecords(save: saves, delete: deletions, policy: .allKeys)))
  }

  /// The texts of all records of `server`, by name; none if the zone does not exist.
  package static func texts(of server: LoopbackServer) throws -> [String: String] {
    do throws(CloudError) {
      let records = try server.records(in: zone, container: container, account: "alice")
      return Dictionary(uniqueKeysWithValues: records.map { ($0.id.name, text(of: $0)) })
    } catch {
      if error.code == .zoneNotFound || error.code == .unknownItem { return [:] }
      throw error
    }
  }

  private static func text(of record: Record) -> String {
    guard case .string(let text)? = record.fields["text"]?.value else { return "" }
    return text
  }

  private func send(_ id: String, _ request: CloudRequest) async throws {
    _ = try await device.send(
      CloudCall(
        container: CrashClient.container, database: .private, requestID: id, request: request))
  }
}
