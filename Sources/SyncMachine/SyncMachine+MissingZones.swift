import CloudProtocol
import Records

/// Zones that may be gone: the server is asked what became of each before the app is told.
///
/// Two things put a zone in doubt. A full listing of the database names only the zones that are
/// there, so that it gives no reason for those it leaves out. And a server that denies a zone may
/// be wrong for a moment, or ahead of the list of zones that was read. Source:
/// Docs/Decisions/0011.
extension SyncMachine {
  /// Notes which zones a full listing named; at its end, those it left out are in doubt.
  func noteListed(_ page: DatabaseChangesPage, _ fetch: inout Fetch) {
    fetch.listedZones.formUnion(page.modified)
    fetch.listedZones.formUnion(page.deleted.map(\.zone))
    guard !page.moreComing else { return }
    // No listing names the default zone: it is always there, and has no feed to read.
    fetch.zonesInDoubt.formUnion(
      state.knownZones.filter {
        $0.name != ZoneID.default.name && !fetch.listedZones.contains($0)
      })
  }

  /// Asks what became of the zones in doubt, some at a time.
  mutating func checkZones(_ fetch: inout Fetch) -> Advance {
    let zones = Array(fetch.zonesInDoubt.sorted().prefix(fetch.zonesPerQuestion))
    if fetch.isServerReset {
      // The server never had them: it has lost what it held.
      conclude(&fetch, zones, zones.map { ZoneDeletion(zone: $0, reason: .encryptedDataReset) })
      return .again
    }
    let request = outgoing(.fetchZones(zones))
    fetch.step = .checkingZones(request.token, zones)
    enter(.fetching(fetch))
    return .instruct(.send(request))
  }

  /// Takes the answer about `zones`: one that is gone is told with its reason, any other is read.
  mutating func settleZones(
    _ fetch: inout Fetch, _ zones: [ZoneID], _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    switch answer {
    case .success(.zones(let results)) where results.count == zones.count:
      var losses: [ZoneDeletion] = []
      for (zone, result) in zip(zones, results) {
        if let error = result.error { honour(error, now: now) }
        if let reason = result.error?.zoneLoss {
          losses.append(ZoneDeletion(zone: zone, reason: reason))
        } else {
          record(.setZoneChanged(zone, true), now: now)
        }
      }
      conclude(&fetch, zones, losses)
    case .failure(let error) where error.code == .limitExceeded && zones.count > 1:
      // Too many at once: fewer may pass.
      fetch.zonesPerQuestion = zones.count / 2
      fetch.step = .ready
      enter(.fetching(fetch))
    case .failure(let error): fail(&fetch, error)
    case .success: fail(&fetch, Self.mismatch)
    }
  }

  /// Gives the app the losses as one more page of the list of zones.
  private mutating func conclude(
    _ fetch: inout Fetch, _ zones: [ZoneID], _ losses: [ZoneDeletion]
  ) {
    guard let token = fetch.databaseCursor else { return fail(&fetch, Self.mismatch) }
    fetch.zonesInDoubt.subtract(zones)
    fetch.listedZones.formUnion(zones)
    if !losses.isEmpty { outbox.append(.fetchedDatabaseChanges(modified: [], deleted: losses)) }
    fetch.step = .deliveringDatabase(
      DatabaseChangesPage(modified: [], deleted: losses, token: token, moreComing: false))
    enter(.fetching(fetch))
  }
}

extension CloudError {
  /// Why a zone is gone of which this is said; `nil` when the error does not say that it is.
  var zoneLoss: ZoneDeletionReason? {
    switch code {
    case .zoneNotFound: userDidResetEncryptedData ? .encryptedDataReset : .deleted
    case .userDeletedZone: .purged
    default: nil
    }
  }
}
