import CloudProtocol
import Records

/// Shares as others come to them: by their URLs.
///
/// Rules: CS-150 to CS-170; CS-158, CS-163, and the table of decisions about shares.
extension ReferenceCloud {
  /// A share found by its URL.
  private struct Found {
    var place: ReferencePlace
    var record: Record
    var details: ShareDetails
    /// The participant that the asker is, or would be.
    var standing: ShareParticipant

    var isOwner: Bool { place.home == place.asker }
    /// The share as the asker spells it.
    var outward: Record {
      var visited = record
      let me = details.participants.first { $0.id == standing.id }?.id
      visited.sharing?.currentParticipant = me
      let zone = ZoneID(name: place.name, owner: place.home)
      let shown = isOwner ? visited : visited.respelled(zone, for: place.asker)
      return shown.worded(for: place.asker)
    }
  }

  func resolve(
    _ request: ResolveShares, _ ask: Ask
  ) -> [ItemResult<String, ShareMetadata>] {
    request.urls.map { url in
      do throws(CloudError) {
        let found = try find(url, ask)
        let zone = ZoneID(name: found.place.name, owner: found.place.home)
        var root: Record?
        if let name = found.details.root?.name, let fields = request.rootFields {
          root = found.place.zone.records[name]?.record
          if let all = root?.fields { root?.fields = fields.applied(to: all) }
          if !found.isOwner { root?.parent = nil }
        }
        let owner = UserIdentity(user: UserID(found.place.home))
        root = (found.isOwner ? root : root?.respelled(zone, for: ask.account))?
          .worded(for: ask.account)
        return ItemResult(
          id: url,
          .success(
            ShareMetadata(
              container: "", share: found.outward, rootID: found.outward.sharing?.root,
              root: root, owner: owner,
              role: found.standing.role, acceptance: found.standing.acceptance,
              permission: found.standing.permission)))
      } catch {
        return ItemResult(id: url, .failure(error))
      }
    }
  }

  func accept(_ urls: [String], _ ask: Ask) -> [ItemResult<String, Record>] {
    urls.map { url in
      do throws(CloudError) {
        var found = try find(url, ask)
        if found.isOwner || found.standing.acceptance == .accepted {
          return ItemResult(id: url, .success(found.outward))
        }
        found.standing.acceptance = .accepted
        found.standing.identity.user = UserID(ask.account)
        let known = found.details.participants.firstIndex { $0.id == found.standing.id }
        if let known {
          found.details.participants[known] = found.standing
        } else {
          found.details.participants.append(found.standing)
        }
        write(&found, by: ask.device)
        return ItemResult(id: url, .success(found.outward))
      } catch {
        return ItemResult(id: url, .failure(error))
      }
    }
  }

  private func write(_ found: inout Found, by device: Device) {
    var database = database(found.place.home)
    guard var zone = database.zones[found.place.name] else { return }
    let before = found.record
    let moment = database.tick()
    found.record.sharing = found.details
    found.record.changeTag = ChangeTag("tag \(moment)")
    found.record.modified = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: Double(clock)), user: UserID(device.account),
      device: device.name)
    zone.records[found.record.id.name] = ReferenceRecord(record: found.record, changed: moment)
    zone.changed = moment
    database.zones[found.place.name] = zone
    databases[found.place.home] = database
    written.append(
      ReferenceChange(
        home: found.place.home, zone: found.place.name, type: found.record.type, before: before,
        after: nil, isShareOnly: true))
  }

  private func find(_ url: String, _ ask: Ask) throws(CloudError) -> Found {
    for home in Device.accounts {
      for (name, zone) in databases[home]?.zones ?? [:] {
        for candidate in zone.records.values {
          guard let details = candidate.record.sharing, details.url == url else { continue }
          let place = ReferencePlace(
            home: home, zone: zone, id: ZoneID(name: name, owner: home), asker: ask.account,
            isVisit: home != ask.account, plant: plant)
          return Found(
            place: place, record: candidate.record, details: details,
            standing: try standing(of: ask.account, in: details))
        }
      }
    }
    throw refusal(.unknownItem)
  }

  /// The participant that `account` is, or would be, in a share.
  private func standing(
    of account: String, in details: ShareDetails
  ) throws(CloudError) -> ShareParticipant {
    let user = UserID(account)
    let entry = details.participants.first { $0.identity.user == user }
    if let entry, entry.permission.allowsReading { return entry }
    if details.publicPermission.allowsReading {
      // A person is in a share once. Rules: CS-231.
      return ShareParticipant(
        id: entry?.id ?? account, identity: UserIdentity(user: user), role: .publicUser,
        permission: details.publicPermission)
    }
    let isUnclear = details.participants.contains {
      $0.identity.user == nil && $0.acceptance == .pending
    }
    throw refusal(isUnclear ? .participantMayNeedVerification : .permissionFailure)
  }
}
