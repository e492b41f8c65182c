import CloudMachine
import CloudProtocol
import Records

/// Short words for sharing Alice's zone.
extension World {
  /// Alice's zone as others spell it.
  var visited: ZoneID { ZoneID(name: World.zone.name, owner: alice.rawValue) }

  /// A share of `root`, or of the whole zone, with the people named.
  func share(
    _ name: String = "S", of root: String?, _ people: [ShareParticipant] = [],
    open: SharePermission = .none, tag: ChangeTag? = nil, zone: ZoneID = World.zone
  ) -> RecordSave {
    RecordSave(
      id: id(name, zone), type: ShareDetails.recordType, changeTag: tag, changes: [],
      sharing: ShareDetails(
        root: root.map { id($0, zone) }, publicPermission: open, participants: people))
  }

  /// Somebody to invite.
  func guest(
    _ name: String, _ permission: SharePermission = .readWrite,
    role: ShareRole = .privateUser
  ) -> ShareParticipant {
    ShareParticipant(
      id: "p-\(name)", identity: UserIdentity(lookup: .email("\(name)@example.com")), role: role,
      permission: permission)
  }

  /// A save of the share as it is stored, with `edit` made to it.
  func reshare(
    _ name: String = "S", _ edit: (inout ShareDetails) -> Void = { _ in }
  ) throws -> RecordSave {
    guard let record = try stored(name), var details = record.sharing else { throw Unexpected() }
    edit(&details)
    return RecordSave(
      id: record.id, type: record.type, changeTag: record.changeTag, changes: [],
      sharing: details)
  }

  /// The details of a share as stored.
  func details(_ name: String = "S") throws -> ShareDetails? { try stored(name)?.sharing }

  func url(_ name: String = "S") throws -> String {
    guard let url = try details(name)?.url else { throw Unexpected() }
    return url
  }

  /// Accepts the share, and has the answer without the URL.
  func accept(_ name: String = "S", as caller: Caller) throws -> String {
    try accept(url: try url(name), as: caller)
  }

  func accept(url: String, as caller: Caller) throws -> String {
    let answer = try ask(.acceptShares([url]), as: caller, in: .shared)
    guard case .success(.sharesAccepted(let results)) = answer.result, let result = results.first
    else { return answer.result.words }
    return result.error?.words ?? "ok"
  }

  /// The names a zone feed from nothing gives in the shared database, ascending.
  func seen(as caller: Caller) throws -> String {
    let request = FetchZoneChanges(zone: visited, since: nil)
    let answer = try ask(.fetchZoneChanges(request), as: caller, in: .shared)
    guard case .success(.zoneChanges(let page)) = answer.result else { return answer.result.words }
    return page.modified.map(\.id.name).sorted().joined(separator: " ")
  }

  /// A page of the zone feed in the shared database.
  func visit(
    _ since: ChangeToken?, limit: Int? = nil, as caller: Caller
  ) throws -> ZoneChangesPage {
    let request = FetchZoneChanges(zone: visited, since: since, limit: limit)
    guard
      case .zoneChanges(let page) = try ask(
        .fetchZoneChanges(request), as: caller, in: .shared
      ).reply()
    else { throw Unexpected() }
    return page
  }

  /// The record in Alice's zone as a visitor reads it, or the error's words.
  func read(_ name: String, as caller: Caller) throws -> Result<Record, CloudError> {
    let request = FetchRecords(ids: [id(name, visited)])
    guard
      case .records(let results) = try ask(.fetchRecords(request), as: caller, in: .shared)
        .reply(), let result = results.first
    else { throw Unexpected() }
    switch result.outcome {
    case .success(let record): return .success(record)
    case .failure(let error): return .failure(error)
    }
  }
}
