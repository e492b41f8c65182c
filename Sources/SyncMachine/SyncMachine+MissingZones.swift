import CloudProtocol
import Records

/// Checks zones that may have been deleted, before their deletion is reported to the app.
///
/// A zone is checked in two cases. A full listing of the database names existing zones only, so it
/// gives no reason for the zones it omits. And a server that denies a zone may be temporarily
/// wrong, or ahead of the fetched list of zones. See Docs/Decisions/0011.
extension SyncMachine {
  /// Records the zones of a relisting, if there is one; at its end, the known zones it omitted are
  /// checked.
  func noteListed(_ page: DatabaseChangesPage, _ fetch: inout Fetch) {
    fetch.relisting?.zones.formUnion(page.modified)
    fetch.relisting?.zones.formUnion(page.deleted.map(\.zone))
    guard !page.moreComing, let relisting = fetch.relisting else { return }
    // The default zone is never listed: it always exists and has no change feed.
    fetch.zonesInDoubt.formUnion(
      state.knownZones.filter {
        $0.name != ZoneID.default.name && !relisting.zones.contains($0)
      })
    if fetch.zonesInDoubt.isEmpty { fetch.relisting = nil }
  }

  /// Asks the server for the zones in doubt, a limited number at a time.
  mutating func checkZones(_ fetch: inout Fetch) -> Advance {
    let zones = Array(fetch.zonesInDoubt.sorted().prefix(fetch.zonesPerQuestion))
    if fetch.relisting?.isServerReset == true {
      // The server has never had them: it has lost its data.
      conclude(&fetch, zones, zones.map { ZoneDeletion(zone: $0, reason: .encryptedDataReset) })
      return .again
    }
    return request(.fetchZones(zones), in: &fetch) { .checkingZones($0, zones) }
  }

  /// Handles the reply for `zones`: a deleted one is reported with its reason, others are fetched.
  mutating func settleZones(
    _ fetch: inout Fetch, _ zones: [ZoneID], _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    switch answer {
    case .success(.zones(let results)) where results.count == zones.count:
      for error in results.compactMap(\.error) { honor(error, now: now) }
      if isHeldBack(now), let error = results.compactMap(\.error).first(where: { $0.wait != nil }) {
        return fail(&fetch, error)
      }
      var losses: [ZoneDeletion] = []
      for (zone, result) in zip(zones, results) {
        if let reason = result.error?.zoneLoss {
          losses.append(ZoneDeletion(zone: zone, reason: reason))
        } else {
          record(.setZoneChanged(zone, true), now: now)
        }
      }
      conclude(&fetch, zones, losses)
    case .failure(let error) where fetch.isDivided(by: error):
      // Too many in one request: retried with fewer.
      fetch.zonesPerQuestion = zones.count / 2
      enter(.ready, in: &fetch)
    case .failure(let error): fail(&fetch, error)
    case .success: fail(&fetch, Self.mismatch)
    }
  }

  /// Delivers the deletions as a further page of the list of zones.
  private mutating func conclude(
    _ fetch: inout Fetch, _ zones: [ZoneID], _ losses: [ZoneDeletion]
  ) {
    guard let token = fetch.databaseCursor else { return fail(&fetch, Self.mismatch) }
    fetch.zonesInDoubt.subtract(zones)
    fetch.relisting?.zones.formUnion(zones)
    if !losses.isEmpty {
      delivery.events.append(.fetchedDatabaseChanges(modified: [], deleted: losses))
    }
    let page = DatabaseChangesPage(
      modified: [], deleted: losses, token: token, moreComing: false)
    enter(.deliveringDatabase(page), in: &fetch)
  }
}

extension CloudError {
  /// The deletion reason that the error implies; `nil` when it does not imply a deletion.
  var zoneLoss: ZoneDeletionReason? {
    switch code {
    case .zoneNotFound: userDidResetEncryptedData ? .encryptedDataReset : .deleted
    case .userDeletedZone: .purged
    default: nil
    }
  }
}
