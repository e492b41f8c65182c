import CloudProtocol
import CloudSync
import Foundation
import Records
import SyncMachine

/// Small states in every form a file can have.
enum StateSamples {
  static let notes = ZoneID(name: "Notes")
  static let shared = ZoneID(name: "My Lists", owner: "_owner")

  static var state: SyncState {
    var state = SyncState()
    state.user = UserID("_a")
    state.databaseToken = ChangeToken(bytes: [0x3f, 0x01])
    state.zoneTokens = [
      notes: ChangeToken(bytes: Array(0..<12)), shared: ChangeToken(bytes: Array(0..<40)),
    ]
    state.changedZones = [ZoneID(name: "Inbox")]
    state.expiredZones = [shared]
    state.needsFetch = true
    state.hasUntrackedChanges = true
    state.subscription = SubscriptionID("changes")
    state.zones.add(PendingChange(.delete, ZoneID(name: "Old")))
    for name in ["n1", "a/b", "é\u{1b}[1m"] { state.records.add(save(name)) }
    state.records.add(PendingChange(.delete, RecordID(name: "n4", zone: shared)))
    return state
  }

  static func save(_ name: String) -> PendingChange<RecordID> {
    PendingChange(.save, RecordID(name: name, zone: notes))
  }

  /// What an app has of a state update.
  static func serialization(_ state: SyncState) throws -> CKSyncEngine.State.Serialization {
    let data = try JSONEncoder().encode(["data": Data(state.encoded())])
    return try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
  }

  /// An app's own file, with the states of two engines and other things.
  struct AppFile: Codable {
    var title = "Notes \"and\" more"
    var icon = Data([1, 2, 3])
    var numbers: [Double] = [1, 67, -2.5]
    var engines: [String: CKSyncEngine.State.Serialization]
  }

  static func xml(_ value: some Encodable, binary: Bool = false) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = binary ? .binary : .xml
    return [UInt8](try encoder.encode(value))
  }

  static func json(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return [UInt8](try encoder.encode(value))
  }

  /// A state as a list of numbers in JSON.
  static func numbers(_ state: SyncState) -> [UInt8] {
    Array("[{\"data\" : \(state.encoded().map(Int.init))}]".utf8)
  }

  /// The bytes of a log that holds `state` and then two entries.
  static func log(_ state: SyncState) throws -> [UInt8] {
    try inFolder { folder in
      let file = folder.appendingPathComponent("state")
      let store = try FileStateStore(url: file)
      try store.replace(with: state.encoded())
      try store.append(
        StateChange.encoded([
          .addRecord(save("n5")), .removeRecord(RecordID(name: "n1", zone: notes)),
        ]))
      try store.append(StateChange.encoded([.setDatabaseToken(ChangeToken(bytes: [0x40]))]))
      return [UInt8](try Data(contentsOf: file))
    }
  }

  /// A file of each form, each with a small state.
  static func files() throws -> [(form: String, bytes: [UInt8])] {
    var small = SyncState()
    small.user = UserID("_a")
    small.zoneTokens = [notes: ChangeToken(bytes: [7])]
    small.records.add(save("n1"))
    let value = try serialization(small)
    return [
      ("log", try log(small)), ("bytes", small.encoded()), ("JSON", try json(value)),
      ("numbers in JSON", numbers(small)),
      ("binary property list", try xml(value, binary: true)),
      ("property list", try xml(value)),
      ("base64", Array(Data(small.encoded()).base64EncodedData())),
      ("JSON in a property list", try xml(["state": Data(try json(value))], binary: true)),
    ]
  }

  static func inFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("inspection-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
