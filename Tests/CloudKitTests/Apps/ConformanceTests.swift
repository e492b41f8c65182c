import CloudKit
import Testing

/// Protocols that apps put in front of CloudKit, to stand something else in its place in tests.
protocol SomeDatabase: AnyObject, Hashable, Sendable {
  var databaseScope: CKDatabase.Scope { get }
  func record(for recordID: CKRecord.ID) async throws -> CKRecord
  func save(_ record: CKRecord) async throws -> CKRecord
  func save(_ zone: CKRecordZone) async throws -> CKRecordZone
  func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID
  func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?
  ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>]
  func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
    desiredKeys: [CKRecord.FieldKey]?, resultsLimit: Int
  ) async throws -> (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  )
  func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  )
  func modifyRecordZones(
    saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
  ) async throws -> (
    saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
    deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
  )
  func add(_ operation: CKDatabaseOperation)
}

protocol SomeContainer: AnyObject, Hashable, Sendable {
  associatedtype Database: SomeDatabase
  var containerIdentifier: String? { get }
  var privateCloudDatabase: Database { get }
  var sharedCloudDatabase: Database { get }
  func accountStatus() async throws -> CKAccountStatus
  static func make(identifier: String) -> Self
}

protocol SomeEngineState: Sendable {
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] { get }
  var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] { get }
  func add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange])
  func remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange])
  func add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange])
  func remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange])
}

protocol SomeEngine<Database, State>: AnyObject, Sendable {
  associatedtype State: SomeEngineState
  associatedtype Database: SomeDatabase
  var database: Database { get }
  var state: State { get }
  func cancelOperations() async
  func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions) async throws
  func sendChanges(_ options: CKSyncEngine.SendChangesOptions) async throws
}

extension CKDatabase: SomeDatabase {}
extension CKContainer: SomeContainer {
  static func make(identifier: String) -> Self { Self(identifier: identifier) }
}
extension CKSyncEngine.State: SomeEngineState {}
extension CKSyncEngine: SomeEngine {
  func batch(
    _ pendingChanges: [PendingRecordZoneChange],
    provider: @Sendable (CKRecord.ID) async -> CKRecord?
  ) async -> RecordZoneChangeBatch? {
    await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: pendingChanges, recordProvider: provider)
  }
}

/// Dates beside values, through the protocol that records and their encrypted part share.
extension CKRecordKeyValueSetting {
  subscript(at key: String) -> Date {
    get { self["\(key)_date"] as? Date ?? .distantPast }
    set { self["\(key)_date"] = max(self[at: key], newValue) }
  }
}

extension CKRecord {
  @discardableResult
  func set(_ value: some CKRecordValueProtocol & Equatable, _ key: FieldKey, at date: Date) -> Bool
  {
    guard encryptedValues[at: key] < date, encryptedValues[key] != value else { return false }
    encryptedValues[key] = value
    encryptedValues[at: key] = date
    return true
  }

  func copyFields(of other: CKRecord) {
    typealias EquatableValue = CKRecordValueProtocol & Equatable
    for key in other.encryptedValues.allKeys() {
      if let value = other.encryptedValues[key] as? any EquatableValue {
        set(value, key, at: other.encryptedValues[at: key])
      }
    }
  }

  var _note: String? {
    get { self[#function] }
    set { self[#function] = newValue }
  }
}

/// A record as a column of a database: by its system fields.
struct SystemFields<Record: CKRecord> {
  var record: Record

  var data: Data {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    return archiver.encodedData
  }

  init(_ record: Record) { self.record = record }

  init?(data: Data) throws {
    let coder = try NSKeyedUnarchiver(forReadingFrom: data)
    coder.requiresSecureCoding = true
    guard let record = Record(coder: coder) else { return nil }
    self.record = record
  }
}

@Suite("Protocols in front of CloudKit, and generic code over it")
struct ConformanceTests {
  @Test("Database, container, engine and state conform to an app's own protocols")
  func cloudKitTypesConformToAppProtocols() async throws {
    let identifier = "iCloud.conformances"
    func work(_ database: some SomeDatabase) async throws -> String? {
      let record = CKRecord(recordType: "T")
      record["a"] = "b"
      let (saved, _) = try await database.modifyRecords(
        saving: [record], deleting: [], savePolicy: .allKeys, atomically: false)
      let found = try await database.records(for: Array(saved.keys), desiredKeys: nil)
      return try found[record.recordID]?.get()["a"]
    }
    let container = container("phone", identifier)
    #expect(try await work(container.privateCloudDatabase) == "b")
    let any: any SomeDatabase = container.sharedCloudDatabase
    #expect(
      any.databaseScope == .shared && CKContainer.make(identifier: "x").containerIdentifier == "x")
    let diary = EngineDiary(container.privateCloudDatabase)
    let engine: any SomeEngine = diary.engine
    engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Z"))])
    try await engine.sendChanges(.init())
    #expect(engine.state.pendingDatabaseChanges.isEmpty)
    let batch = await diary.engine.batch([.saveRecord(.init(recordName: "r"))]) { id in
      CKRecord(recordType: "T", recordID: id)
    }
    #expect(batch?.recordsToSave.count == 1)
  }

  @Test("Generic code writes values with dates, uses keys from #function and archives records")
  func genericRecordCodeReadsAndWritesFields() throws {
    let record = CKRecord(recordType: "T")
    let early = Date(timeIntervalSinceReferenceDate: 1)
    let late = Date(timeIntervalSinceReferenceDate: 2)
    #expect(record.set("a", "text", at: late) && !record.set("b", "text", at: early))
    #expect(record.set(7, "number", at: early) && record.encryptedValues["number"] == 7)
    let copy = CKRecord(recordType: "T")
    copy.copyFields(of: record)
    #expect(copy.encryptedValues["text"] == "a" && copy.encryptedValues[at: "text"] == late)
    record._note = "underscore"
    #expect(record._note == "underscore")
    let read = try #require(try SystemFields<CKRecord>(data: SystemFields(record).data))
    #expect(read.record.recordID == record.recordID)
    let share = CKShare(rootRecord: record, shareID: .init(recordName: "share-r"))
    let again = try #require(try SystemFields<CKShare>(data: SystemFields(share).data))
    #expect(again.record.recordID.recordName == "share-r")
  }

  @Test("Item errors are readable as a Foundation dictionary, as in older code")
  func itemErrorsAreReadAsFoundationDictionary() {
    let id = CKRecord.ID(recordName: "a")
    let items: [AnyHashable: Error] = [id: CKError(.unknownItem)]
    let error: Error = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
    let dictionary = (error as? CKError)?.userInfo[CKPartialErrorsByItemIDKey] as? NSDictionary
    #expect((dictionary?[id] as? CKError)?.code == .unknownItem)
    let bridged = (error as NSError).userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: Error]
    #expect((bridged?[id] as? CKError)?.code == .unknownItem)
  }

  @Test("Account changes arrive as an asynchronous sequence")
  func accountChangesArriveAsSequence() async throws {
    let server = EmbeddedCloud.server.device("account changes", signedInAs: "ann")
    let environment = CloudSyncEnvironment { _ in server }
    let container = CloudSyncEnvironment.$current.withValue(environment) {
      CKContainer(identifier: "iCloud.account-changes")
    }
    _ = try await container.accountStatus()
    let changes = NotificationCenter.default.notifications(named: .CKAccountChanged)
    server.signOut()
    for await change in changes {
      #expect(change.name == .CKAccountChanged)
      break
    }
    #expect(try await container.accountStatus() == .noAccount)
  }
}
