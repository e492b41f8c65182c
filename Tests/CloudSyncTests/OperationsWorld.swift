import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

/// A server in process, one device, the zone "Z", and a journal of what blocks were told.
final class OperationsWorld: Sendable {
  let server = LoopbackServer()
  let container: CKContainer
  private let lines = Mutex<[String]>([])

  var database: CKDatabase { container.privateCloudDatabase }
  var journal: [String] { lines.withLock { $0 } }

  init() async throws {
    container = CKContainer(
      identifier: "iCloud.operations.\(UUID().uuidString)",
      transport: server.device("phone", signedInAs: "alice"))
    try await database.save(CKRecordZone(zoneID: Self.zoneID))
    server.controls.forgetRequests()
  }

  static let zoneID = CKRecordZone.ID(zoneName: "Z")

  static func id(_ name: String, _ zone: String = "Z") -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
  }

  static func record(_ name: String, _ text: String = "", zone: String = "Z") -> CKRecord {
    let record = CKRecord(recordType: "Note", recordID: id(name, zone))
    record["text"] = text
    return record
  }

  /// The zones with these names; "Z" is there already.
  func saveZones(_ names: String...) async throws {
    for name in names { try await database.save(CKRecordZone(zoneName: name)) }
  }

  /// New records with these names.
  func save(_ names: String..., zone: String = "Z") async throws {
    let records = names.map { Self.record($0, zone: zone) }
    for result in try await database.modifyRecords(saving: records, deleting: []).saveResults {
      _ = try result.value.get()
    }
  }

  func note(_ line: String) { lines.withLock { $0.append(line) } }

  /// "name", or "name: code" for a failure.
  func note<Value>(_ line: String, _ result: Result<Value, any Error>) {
    switch result {
    case .success: note(line)
    case .failure(let error): note("\(line): \(Self.text(error))")
    }
  }

  func note(_ line: String, _ error: (any Error)?) {
    note(error.map { "\(line): \(Self.text($0))" } ?? line)
  }

  /// The code of an error, and for a partial failure the codes of its items.
  static func text(_ error: any Error) -> String {
    guard let error = error as? CKError else { return "not a CKError" }
    let items = (error.partialErrorsByItemID ?? [:]).map { item, error in
      "\(name(item.base)) \(text(error))"
    }
    return items.isEmpty
      ? "\(error.code)" : "\(error.code) [\(items.sorted().joined(separator: ", "))]"
  }

  private static func name(_ item: Any) -> String {
    switch item {
    case let id as CKRecord.ID: id.recordName
    case let id as CKRecordZone.ID: id.zoneName
    case let id as String: id
    default: "unknown"
    }
  }

  /// Runs an operation in the database and returns when it has finished.
  func run(_ operation: CKDatabaseOperation) async {
    await finish(operation) { self.database.add(operation) }
  }

  /// Returns when an operation that `start` starts has finished.
  func finish(_ operation: CKOperation, _ start: () -> Void) async {
    await withCheckedContinuation { continuation in
      operation.completionBlock = { continuation.resume() }
      start()
    }
    #expect(operation.isFinished && !operation.isExecuting, "\(operation)")
  }

  /// Checks that nothing is under way any more.
  func close() {
    #expect(server.controls.openRequestCount == 0)
    #expect(server.controls.remainingFaultCount == 0)
    #expect(server.controls.heldRequests.isEmpty)
    server.close()
  }
}

/// One row of a table of stories: what is done, and what the blocks are told for it.
struct OperationStory: Sendable, CustomTestStringConvertible {
  var name: String
  var expected: [String]
  var body: @Sendable (OperationsWorld) async throws -> Void

  init(
    _ name: String, expect expected: [String],
    _ body: @escaping @Sendable (OperationsWorld) async throws -> Void
  ) {
    self.name = name
    self.expected = expected
    self.body = body
  }

  var testDescription: String { name }

  func check() async throws {
    let world = try await OperationsWorld()
    try await body(world)
    let journal = world.journal
    #expect(journal == expected, "\(name)")
    world.close()
  }
}
