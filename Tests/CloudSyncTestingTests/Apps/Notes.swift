import CloudSync
import Foundation
import Synchronization

/// A small app as it should be written: notes in one zone, kept in a file, and an answer to
/// everything that a delegate has to answer.
final class Notes: CKSyncEngineDelegate {
  static let zone = CKRecordZone(zoneName: "Notes")

  struct Contents: Codable {
    var texts: [String: String] = [:]
    /// What the server has not confirmed: the note's text, or nothing for a deletion.
    var unsent: [String: String?] = [:]
    /// The system fields of the server's records.
    var known: [String: Data] = [:]
    var owner: String?
    var state: CKSyncEngine.State.Serialization?
  }

  private let file: URL
  let contents: Mutex<Contents>
  /// What a zone that is read from its beginning has shown so far.
  let seen = Mutex<Set<String>?>(nil)

  init(_ folder: URL) throws {
    file = folder.appendingPathComponent("notes.json")
    let data = FileManager.default.contents(atPath: file.path)
    contents = Mutex(
      try data.map { try JSONDecoder().decode(Contents.self, from: $0) } ?? Contents())
  }

  var savedState: CKSyncEngine.State.Serialization? { contents.withLock { $0.state } }

  var texts: [String: String] { contents.withLock { $0.texts } }

  func write(_ text: String, as name: String, _ engine: CKSyncEngine) {
    change {
      $0.texts[name] = text
      $0.unsent[name] = .some(text)
    }
    engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(Self.id(name))])
  }

  func delete(_ name: String, _ engine: CKSyncEngine) {
    change {
      $0.texts[name] = nil
      $0.unsent[name] = .some(nil)
    }
    engine.state.add(pendingRecordZoneChanges: [.deleteRecord(Self.id(name))])
  }

  /// Tells the engine of all that is not confirmed, whatever it remembers by itself.
  func offerUnsent(_ state: CKSyncEngine.State) {
    let unsent = contents.withLock { $0.unsent }
    guard !unsent.isEmpty else { return }
    state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    state.add(
      pendingRecordZoneChanges: unsent.sorted { $0.key < $1.key }.map { name, text in
        text == nil ? .deleteRecord(Self.id(name)) : .saveRecord(Self.id(name))
      })
  }

  func change(_ body: (inout Contents) -> Void) {
    contents.withLock { contents in
      body(&contents)
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      // A test's folder does not fill up; what could not be written fails the test by its content.
      try? encoder.encode(contents).write(to: file, options: .atomic)
    }
  }

  static func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone.zoneID)
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let state = syncEngine.state
    let pending = state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let contents = self.contents.withLock { $0 }
      guard let text = contents.texts[id.recordName] else {
        state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        return nil
      }
      let record =
        contents.known[id.recordName].flatMap(Self.record)
        ?? CKRecord(recordType: "Note", recordID: id)
      record["text"] = text
      return record
    }
  }

  static func record(_ data: Data) -> CKRecord? {
    guard let decoder = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
    decoder.requiresSecureCoding = true
    return CKRecord(coder: decoder)
  }

  static func systemFields(_ record: CKRecord) -> Data {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: encoder)
    return encoder.encodedData
  }
}
