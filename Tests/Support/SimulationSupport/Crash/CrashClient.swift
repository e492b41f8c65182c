import CloudProtocol
package import LoopbackServer
import Records

/// A client that saves small records in a server of this process, one request each.
package struct CrashClient: Sendable {
  private static let zone = ZoneID(name: "Notes")
  private static let container = "iCloud.com.example.crash"
  private let device: LoopbackDevice

  /// A client of `server`.
  package init(_ server: LoopbackServer) {
    device = server.device("phone", signedInAs: "alice")
  }

  /// Sees to it that there is a zone.
  package func makeZone(_ requestID: String) async throws {
    try await send(requestID, .modifyZones(ModifyZones(save: [CrashClient.zone])))
  }

  /// Saves a record; it is safe when this returns.
  package func save(_ name: String, text: String) async throws {
    let save = RecordSave(
      id: RecordID(name: name, zone: CrashClient.zone), type: "Note",
      changes: [.init(key: "text", field: Field(.string(text)))])
    try await send(name, .modifyRecords(ModifyRecords(save: [save], policy: .allKeys)))
  }

  /// The names of all records on `server`.
  package static func names(_ server: LoopbackServer) throws -> [String] {
    try server.records(in: zone, container: container, account: "alice").map(\.id.name)
  }

  private func send(_ id: String, _ request: CloudRequest) async throws {
    _ = try await device.send(
      CloudCall(
        container: CrashClient.container, database: .private, requestID: id, request: request))
  }
}
