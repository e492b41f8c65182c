import CloudProtocol
import Records

/// The cloud as a few dictionaries: what the specification says must come of each call.
///
/// Written from the documents of CloudKit and this repository, not from `CloudMachine`, and as
/// plainly as can be: everything is copied, walked and sorted each time. It knows private, public
/// and shared databases, their zones, records, feeds, queries, assets, shares, quotas and pushes.
actor ReferenceCloud: Cloud {
  /// One request: who asks, of which database.
  struct Ask {
    let device: Device
    let scope: DatabaseScope

    var account: String { device.account }
    /// The key of the database in `databases`; a shared one has none of its own.
    var home: String { scope == .public ? Device.publicHome : account }
  }

  private struct Answered: Hashable {
    let device: Device
    let requestID: String
  }

  /// Private databases by account, and the public one.
  var databases: [String: ReferenceDatabase] = [:]
  /// The zones of others that each account sees.
  var visits: [ReferenceVisit.Key: ReferenceVisit] = [:]
  /// The records that tokens of visitors have seen, with the moment of their last change.
  var views: [[String: Int]] = []
  /// Files by checksum, and what was uploaded by receipt.
  var files: [String: [UInt8]] = [:]
  var uploads: [String: ReferenceUpload] = [:]
  var quotas: [String: Int] = [:]
  /// Subscriptions by account and scope.
  var subscriptions: [ReferenceSubscriber: [SubscriptionID: Subscription]] = [:]
  /// The changes of the current request.
  var written: [ReferenceChange] = []
  var deliveries: [Delivery] = []
  /// Counts requests: everything that one writes has one time.
  var clock = 0
  /// Counts what happens in shared databases.
  var sharedNow = 0
  private var answered: [Answered: CloudReply] = [:]
  let plant: Plant?

  init(plant: Plant? = nil) { self.plant = plant }

  func send(_ call: CloudCall, from device: Device) async -> Result<CloudReply, CloudError> {
    let name = Answered(device: device, requestID: call.requestID)
    if call.request.isMutation, let reply = answered[name] { return .success(reply) }
    do {
      let reply = try answer(
        call.request, Ask(device: device, scope: call.database), id: call.requestID)
      if call.request.isMutation { answered[name] = reply }
      return .success(reply)
    } catch {
      return .failure(error)
    }
  }

  private func answer(
    _ request: CloudRequest, _ ask: Ask, id: String
  ) throws(CloudError) -> CloudReply {
    if ask.account.isEmpty, ask.scope != .public || !request.isForEveryone {
      throw refusal(.notAuthenticated)
    }
    let before = databases
    written = []
    clock += 1
    defer { if request.isMutation { tell(since: before, except: ask.device.name) } }
    switch request {
    case .fetchCurrentUser: return .currentUser(UserID(ask.account))
    case .fetchDatabaseChanges(let fetch): return .databaseChanges(try changes(fetch, ask))
    case .fetchZoneChanges(let fetch): return .zoneChanges(try changes(fetch, ask))
    case .fetchZones(let ids): return .zones(zones(ids, ask))
    case .modifyZones(let request): return try modify(request, ask)
    case .fetchRecords(let fetch): return .records(try records(fetch, ask))
    case .modifyRecords(let request): return try modify(request, ask)
    case .queryRecords(let request): return .queried(try query(request, ask))
    case .fetchSubscriptions(let ids): return .subscriptions(try fetch(ids, ask))
    case .modifySubscriptions(let request): return try modify(request, ask)
    case .resolveShares(let request): return .sharesResolved(resolve(request, ask))
    case .acceptShares(let urls): return .sharesAccepted(accept(urls, ask))
    case .uploadAsset(let upload): return .assetUploaded(try take(upload, ask, id: id))
    case .downloadAsset(let download):
      return .assetContent(AssetContent(try content(download, ask)))
    case .findUsers: throw refusal(.serverRejectedRequest)
    }
  }

  /// The database called `home`, made when it is new.
  func database(_ home: String) -> ReferenceDatabase {
    var database = databases[home] ?? ReferenceDatabase()
    database.identity = home
    return database
  }

  func administer(_ act: Act, container: String, account: String) -> String {
    let before = databases
    written = []
    defer { tell(since: before, except: nil) }
    if case .quota(let spare) = act {
      let used = database(account).bytes
      quotas[account] = spare.map { used + $0 }
      return "\(used) bytes used"
    }
    var database = database(account)
    if let zone = database.administer(act) {
      written.append(ReferenceChange(home: account, zone: zone))
    }
    databases[account] = database
    return "done"
  }

  func takeDeliveries(container: String) -> [Delivery] {
    defer { deliveries = [] }
    return deliveries
  }
}

extension CloudRequest {
  /// Whether the public database answers it without an account.
  ///
  /// Rules: CS-150 to CS-170.
  fileprivate var isForEveryone: Bool {
    switch self {
    case .fetchRecords, .fetchZones, .fetchZoneChanges, .fetchDatabaseChanges, .queryRecords,
      .downloadAsset:
      true
    case .fetchCurrentUser, .modifyZones, .modifyRecords, .fetchSubscriptions,
      .modifySubscriptions, .resolveShares, .acceptShares, .findUsers, .uploadAsset:
      false
    }
  }
}

/// An error without a message: what is compared is the code.
func refusal(_ code: CloudError.Code, of record: Record? = nil) -> CloudError {
  CloudError(code, "", serverRecord: record)
}
