import CloudProtocol
import Records
import Synchronization

/// One device in a scenario: says what it wants in one line and gets what came in one line.
struct Visitor: Sendable {
  let service: any TestedService
  let device: String
  var account: String?
  private let numbers: Numbers

  final class Numbers: Sendable {
    let next = Mutex(0)
  }

  init(_ service: any TestedService, _ device: String, _ account: String?) {
    self.service = service
    self.device = device
    self.account = account
    numbers = Numbers()
  }

  /// Sends a request with a name of its own, or with the one given.
  func ask(
    _ request: CloudRequest, id: String? = nil, expecting user: UserID? = nil,
    database: DatabaseScope = .private
  ) async -> Result<CloudReply, CloudError> {
    let number = numbers.next.withLock { next in
      next += 1
      return next
    }
    return await service.send(
      CloudCall(
        container: containerID, database: database, expectedUser: user,
        requestID: id ?? "\(device)-\(number)", request: request),
      from: device, of: account)
  }

  /// The answer in short: what was saved and deleted, or what failed why.
  func tell(
    _ request: CloudRequest, id: String? = nil, expecting user: UserID? = nil,
    database: DatabaseScope = .private
  ) async -> String {
    short(await ask(request, id: id, expecting: user, database: database))
  }

  func save(
    _ records: [Record], delete: [RecordID] = [], policy: SavePolicy = .ifServerRecordUnchanged,
    atomic: Bool = true, id: String? = nil
  ) async -> String {
    await tell(
      .modifyRecords(
        ModifyRecords(
          save: records.map { RecordSave($0) }, delete: delete, policy: policy, isAtomic: atomic)),
      id: id)
  }

  func make(_ zones: ZoneID...) async -> String {
    await tell(.modifyZones(ModifyZones(save: zones)))
  }

  /// The record as it is on the server, or `nil`.
  func read(_ id: RecordID) async -> Record? {
    guard
      case .success(.records(let results)) = await ask(.fetchRecords(FetchRecords(ids: [id])))
    else { return nil }
    return results.first?.value
  }

  /// All changes of a zone since `token`, page by page: `+name` for a record, `-name` for one
  /// that is gone, `|` between pages; and where they end.
  func changes(
    of zone: ZoneID, since token: ChangeToken? = nil, limit: Int? = nil
  ) async -> (text: String, token: ChangeToken?) {
    var token = token
    var pages: [String] = []
    while true {
      let answer = await ask(
        .fetchZoneChanges(FetchZoneChanges(zone: zone, since: token, limit: limit)))
      guard case .success(.zoneChanges(let page)) = answer else {
        return ((pages + [short(answer)]).joined(separator: "|"), nil)
      }
      token = page.token
      pages.append(
        (page.modified.map { "+\($0.id.name)" } + page.deleted.map { "-\($0.id.name)" })
          .joined(separator: " "))
      if !page.moreComing { return (pages.joined(separator: "|"), token) }
    }
  }

  /// The same of the database's zones.
  func zoneChanges(since token: ChangeToken? = nil) async -> (text: String, token: ChangeToken?) {
    var token = token
    var pages: [String] = []
    while true {
      let answer = await ask(.fetchDatabaseChanges(FetchDatabaseChanges(since: token)))
      guard case .success(.databaseChanges(let page)) = answer else {
        return ((pages + [short(answer)]).joined(separator: "|"), nil)
      }
      token = page.token
      pages.append(
        (page.modified.map { "+\($0.name)" } + page.deleted.map { "-\($0.zone.name):\($0.reason)" })
          .joined(separator: " "))
      if !page.moreComing { return (pages.joined(separator: "|"), token) }
    }
  }
}

/// An answer in one line.
func short(_ result: Result<CloudReply, CloudError>) -> String {
  switch result {
  case .failure(let error):
    return "!\(error.code)"
  case .success(.currentUser): return "user"
  case .success(.databaseChanges(let page)):
    return "zones \(page.modified.count) \(page.deleted.count)"
  case .success(.zoneChanges(let page)):
    return "changes \(page.modified.count) \(page.deleted.count)"
  case .success(.zones(let results)):
    return line(results.map { ("=", $0.id.name, $0.error) })
  case .success(.zonesModified(let saved, let deleted)):
    return line(
      saved.map { ("+", $0.id.name, $0.error) } + deleted.map { ("-", $0.id.name, $0.error) })
  case .success(.records(let results)):
    return line(results.map { ("=", $0.id.name, $0.error) })
  case .success(.recordsModified(let saved, let deleted)):
    return line(
      saved.map { ("+", $0.id.name, $0.error) } + deleted.map { ("-", $0.id.name, $0.error) })
  case .success(.subscriptions(let results)):
    return line(results.map { ("=", $0.id.rawValue, $0.error) })
  case .success(.subscriptionsModified(let saved, let deleted)):
    return line(
      saved.map { ("+", $0.id.rawValue, $0.error) }
        + deleted.map { ("-", $0.id.rawValue, $0.error) })
  case .success(.queried(let page)):
    return "found \(page.records.count)" + (page.cursor == nil ? "" : " more")
  case .success(.sharesResolved(let results)):
    return line(results.map { ("=", $0.id, $0.error) })
  case .success(.sharesAccepted(let results)):
    return line(results.map { ("+", $0.id, $0.error) })
  case .success(.usersFound(let results)):
    return line(results.map { ("=", "\($0.id)", $0.error) })
  case .success(.assetUploaded(let asset)): return "asset \(asset.size)"
  case .success(.assetContent(let content)): return "content \(content.count)"
  }
}

private func line(_ items: [(sign: String, name: String, error: CloudError?)]) -> String {
  items.map { item in
    item.sign + item.name + (item.error.map { "!\($0.code)" } ?? "")
  }.joined(separator: " ")
}

let notes = ZoneID(name: "Notes")

/// A record in the zone `Notes` whose one field says `text`.
func note(_ name: String, _ text: String = "text", in zone: ZoneID = notes) -> Record {
  Record(id: RecordID(name: name, zone: zone), type: "Note", fields: ["text": .string(text)])
}

func noteID(_ name: String) -> RecordID { RecordID(name: name, zone: notes) }

/// Whether both stamps are there and `second` is the earlier one.
func isLater(_ first: RecordStamp?, than second: RecordStamp?) -> Bool {
  guard let first, let second else { return false }
  return first.time > second.time
}
