import CloudProtocol
import Records

/// The cloud as a few dictionaries: what the specification says must come of each call.
///
/// Written from the documents of CloudKit and this repository, not from `CloudMachine`, and as
/// plainly as can be: everything is copied, walked and sorted anew. It knows private databases,
/// their zones, records, feeds and queries.
actor ReferenceCloud: Cloud {
  struct Answered: Hashable {
    let device: Device
    let requestID: String
  }

  var databases: [String: ReferenceDatabase] = [:]
  var answered: [Answered: CloudReply] = [:]
  let plant: Plant?

  init(plant: Plant? = nil) { self.plant = plant }

  func send(_ call: CloudCall, from device: Device) async -> Result<CloudReply, CloudError> {
    let name = Answered(device: device, requestID: call.requestID)
    if call.request.isMutation, let reply = answered[name] { return .success(reply) }
    var database = databases[device.account] ?? ReferenceDatabase()
    database.identity = device.account
    database.plant = plant
    do {
      let reply = try answer(call.request, from: device, in: &database)
      databases[device.account] = database
      if call.request.isMutation { answered[name] = reply }
      return .success(reply)
    } catch {
      return .failure(error)
    }
  }

  private func answer(
    _ request: CloudRequest, from device: Device, in database: inout ReferenceDatabase
  ) throws(CloudError) -> CloudReply {
    switch request {
    case .fetchCurrentUser: return .currentUser(UserID(device.account))
    case .fetchDatabaseChanges(let fetch): return .databaseChanges(try database.changes(fetch))
    case .fetchZoneChanges(let fetch): return .zoneChanges(try database.changes(fetch))
    case .fetchZones(let ids): return .zones(database.zones(ids))
    case .modifyZones(let request): return try database.modify(request)
    case .fetchRecords(let fetch): return .records(try database.records(fetch))
    case .modifyRecords(let request): return try database.modify(request, by: device)
    case .queryRecords(let request): return .queried(try database.query(request))
    case .fetchSubscriptions, .modifySubscriptions, .resolveShares, .acceptShares, .findUsers,
      .uploadAsset, .downloadAsset:
      throw refusal(.serverRejectedRequest)
    }
  }

  func administer(_ act: Act, container: String, account: String) {
    var database = databases[account] ?? ReferenceDatabase()
    database.administer(act)
    databases[account] = database
  }
}

/// An error without a message: what is compared is the code.
func refusal(_ code: CloudError.Code, of record: Record? = nil) -> CloudError {
  CloudError(code, "", serverRecord: record)
}
