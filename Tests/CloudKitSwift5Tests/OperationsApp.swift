import CloudKit

/// Sync in the manner of the years before the engine: operations with blocks, change tokens in
/// user defaults, a zone, a subscription, everything in one object that many share.
class OperationsApp {
  enum Key {
    static let databaseToken = "databaseToken"
    static let zoneToken = "zoneToken"
  }

  let container: CKContainer
  let database: CKDatabase
  let zoneID = CKRecordZone.ID(zoneName: "Journal", ownerName: CKCurrentUserDefaultName)
  private let workQueue = DispatchQueue(label: "journal.sync")
  private let operationQueue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }()
  private var tokens: [String: Data] = [:]

  private(set) var entries: [String: CKRecord] = [:]
  var errors: [Error] = []

  init(container: CKContainer = .default()) {
    self.container = container
    self.database = container.privateCloudDatabase
  }

  private func token(_ key: String) -> CKServerChangeToken? {
    guard let data = tokens[key] else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
  }

  private func setToken(_ token: CKServerChangeToken?, _ key: String) {
    guard let token = token else { tokens[key] = nil; return }
    tokens[key] = try? NSKeyedArchiver.archivedData(
      withRootObject: token, requiringSecureCoding: true)
  }

  func setUp(completion: @escaping (Error?) -> Void) {
    container.accountStatus { status, error in
      guard status == .available else { completion(error); return }
      let zone = CKRecordZone(zoneID: self.zoneID)
      let operation = CKModifyRecordZonesOperation(
        recordZonesToSave: [zone], recordZoneIDsToDelete: nil)
      operation.qualityOfService = .utility
      operation.modifyRecordZonesResultBlock = { result in
        switch result {
        case .success: self.subscribe(completion: completion)
        case .failure(let error): completion(error)
        }
      }
      self.database.add(operation)
    }
  }

  private func subscribe(completion: @escaping (Error?) -> Void) {
    let subscription = CKDatabaseSubscription(subscriptionID: "journal-changes")
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    let operation = CKModifySubscriptionsOperation(
      subscriptionsToSave: [subscription], subscriptionIDsToDelete: [])
    operation.modifySubscriptionsCompletionBlock = { _, _, error in completion(error) }
    operation.qualityOfService = .utility
    database.add(operation)
  }

  func save(_ texts: [String: String], completion: @escaping (Result<Void, Error>) -> Void) {
    let records = texts.map { name, text -> CKRecord in
      let id = CKRecord.ID(recordName: name, zoneID: zoneID)
      let record = entries[name] ?? CKRecord(recordType: "Entry", recordID: id)
      record["text"] = text as CKRecordValue
      record["length"] = NSNumber(value: text.count)
      record["saved"] = Date() as NSDate
      return record
    }
    let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil)
    let configuration = CKOperation.Configuration()
    configuration.timeoutIntervalForRequest = 10
    configuration.timeoutIntervalForResource = 10
    operation.configuration = configuration
    operation.savePolicy = .changedKeys
    operation.isAtomic = true
    operation.perRecordSaveBlock = { recordID, result in
      if case .success(let record) = result {
        self.workQueue.sync { self.entries[recordID.recordName] = record }
      }
    }
    operation.modifyRecordsResultBlock = { result in
      completion(result)
    }
    operation.database = database
    operationQueue.addOperation(operation)
  }

  func delete(_ names: [String], completion: @escaping (Error?) -> Void) {
    let ids = names.map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
    let operation = CKModifyRecordsOperation(recordsToSave: nil, recordIDsToDelete: ids)
    operation.modifyRecordsCompletionBlock = { _, deletedIDs, error in
      deletedIDs?.forEach { id in self.workQueue.sync { self.entries[id.recordName] = nil } }
      completion(error)
    }
    database.add(operation)
  }

  func fetch(completion: @escaping (Bool) -> Void) {
    var changedZones: [CKRecordZone.ID] = []
    let operation = CKFetchDatabaseChangesOperation(
      previousServerChangeToken: token(Key.databaseToken))
    operation.fetchAllChanges = true
    operation.recordZoneWithIDChangedBlock = { changedZones.append($0) }
    operation.recordZoneWithIDWasDeletedBlock = { [weak self] id in
      if id == self?.zoneID { self?.entries = [:] }
    }
    operation.changeTokenUpdatedBlock = { [weak self] token in
      self?.setToken(token, Key.databaseToken)
    }
    operation.fetchDatabaseChangesCompletionBlock = { [weak self] token, _, error in
      guard let self = self else { return }
      if let ckError = error as? CKError, ckError.code == .changeTokenExpired {
        self.setToken(nil, Key.databaseToken)
        return self.fetch(completion: completion)
      }
      guard error == nil else { self.errors.append(error!); completion(false); return }
      self.setToken(token, Key.databaseToken)
      if changedZones.isEmpty {
        completion(false)
      } else {
        self.fetchZones(changedZones, completion: completion)
      }
    }
    database.add(operation)
  }

  private func fetchZones(_ ids: [CKRecordZone.ID], completion: @escaping (Bool) -> Void) {
    let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
      previousServerChangeToken: token(Key.zoneToken), resultsLimit: nil, desiredKeys: nil)
    let operation = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: ids,
      configurationsByRecordZoneID: Dictionary(
        uniqueKeysWithValues: ids.map { ($0, configuration) }))
    operation.recordWasChangedBlock = { id, result in
      switch result {
      case .success(let record): self.workQueue.sync { self.entries[id.recordName] = record }
      case .failure(let error): self.errors.append(error)
      }
    }
    operation.recordWithIDWasDeletedBlock = { id, type in
      guard type == "Entry" else { return }
      self.workQueue.sync { self.entries[id.recordName] = nil }
    }
    operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
      guard let token = token else { return }
      self.setToken(token, Key.zoneToken)
    }
    operation.recordZoneFetchResultBlock = { _, result in
      do {
        let (token, _, _) = try result.get()
        self.setToken(token, Key.zoneToken)
      } catch {
        self.errors.append(error)
      }
    }
    operation.fetchRecordZoneChangesResultBlock = { result in
      if case .failure(let error) = result { self.errors.append(error) }
      completion(self.errors.isEmpty)
    }
    database.add(operation)
  }

  /// Everything of one kind, by query, page by page.
  func all(
    where predicate: NSPredicate = NSPredicate(value: true),
    completion: @escaping ([CKRecord]) -> Void
  ) {
    let query = CKQuery(recordType: "Entry", predicate: predicate)
    query.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
    var found: [CKRecord] = []
    func run(_ operation: CKQueryOperation) {
      operation.zoneID = zoneID
      operation.resultsLimit = 2
      operation.desiredKeys = ["text"]
      operation.recordMatchedBlock = { _, result in
        if let record = try? result.get() { found.append(record) }
      }
      operation.queryResultBlock = { result in
        switch result {
        case .success(let cursor?): run(CKQueryOperation(cursor: cursor))
        case .success(nil): completion(found)
        case .failure(let error):
          self.errors.append(error)
          completion(found)
        }
      }
      database.add(operation)
    }
    run(CKQueryOperation(query: query))
  }

  /// Handles a push as an app delegate does; returns whether it was one of this app.
  func receive(_ userInfo: [AnyHashable: Any]) -> Bool {
    guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
      return false
    }
    switch notification.notificationType {
    case .database:
      return (notification as? CKDatabaseNotification)?.databaseScope == .private
    case .recordZone, .query, .readNotification: return false
    @unknown default: return false
    }
  }
}
