import CloudProtocol
import Records
import SyncMachine

/// I10 and I11: a token moves only to the end of a page that the app has been given whole and
/// returned from, or is forgotten.
struct TokenChecker {
  private struct Page {
    var token: ChangeToken
    var database: DatabaseChangesPage?
    var zone: ZoneChangesPage?
    var isWithApp = false
    var isTaken = false
  }

  private var databaseToken: ChangeToken?
  private var zoneTokens: [ZoneID: ChangeToken] = [:]
  private var databasePage: Page?
  /// The pages of the zone that is being fetched, in their order, from the one whose token moved
  /// last: the next page may arrive while the app has one.
  private var zonePages: [Page] = []
  /// The server's replies about zones that no list contained.
  private var answeredZones: [ZoneID: CloudError?] = [:]

  mutating func restart(with state: SyncState) {
    self = TokenChecker()
    databaseToken = state.databaseToken
    zoneTokens = state.zoneTokens
  }

  /// The answer to the current request arrived.
  mutating func note(arrived reply: CloudReply) {
    switch reply {
    case .databaseChanges(let page):
      let isEmpty = page.modified.isEmpty && page.deleted.isEmpty
      answeredZones = [:]
      databasePage = Page(token: page.token, database: page, isTaken: isEmpty)
    case .zoneChanges(let page):
      let isEmpty = page.modified.isEmpty && page.deleted.isEmpty
      zonePages.append(Page(token: page.token, zone: page, isTaken: isEmpty))
    case .zones(let results):
      answeredZones = [:]
      for result in results { answeredZones[result.id] = .some(result.error) }
    case .currentUser, .zonesModified, .records, .recordsModified, .subscriptions,
      .subscriptionsModified, .queried, .sharesResolved, .sharesAccepted, .usersFound,
      .assetUploaded, .assetContent:
      break
    }
  }

  /// The app is given an event; returns what is wrong with it.
  mutating func fault(giving event: SyncEvent) -> String? {
    switch event {
    case .fetchedDatabaseChanges(let modified, let deleted):
      if isAnswered(modified, deleted) { return nil }
      guard let page = databasePage?.database, page.modified == modified,
        page.deleted == deleted
      else { return "the app is given zones that no page holds" }
      databasePage?.isWithApp = true
    case .fetchedZoneChanges(let modified, let deleted):
      guard let index = zonePages.firstIndex(where: { !$0.isTaken }),
        let page = zonePages[index].zone, page.modified == modified, page.deleted == deleted
      else { return "the app is given records that the next page does not hold" }
      zonePages[index].isWithApp = true
    case .willFetchZoneChanges: zonePages = []
    case .stateUpdate, .accountChange, .willFetchChanges, .didFetchZoneChanges, .didFetchChanges,
      .willSendChanges, .sentDatabaseChanges, .sentRecordChanges, .didSendChanges:
      break
    }
    return nil
  }

  /// Whether these zones are those of which the server was asked, or would have been: one that
  /// began again never had them.
  private func isAnswered(_ modified: [ZoneID], _ deleted: [ZoneDeletion]) -> Bool {
    guard modified.isEmpty, databasePage?.isTaken ?? false else { return false }
    return deleted.allSatisfy { deletion in
      let error = answeredZones[deletion.zone] ?? nil
      switch deletion.reason {
      case .deleted: return error?.code == .zoneNotFound
      case .purged: return error?.code == .userDeletedZone
      case .encryptedDataReset: return error == nil || error?.userDidResetEncryptedData == true
      }
    }
  }

  /// The app returned from an event.
  mutating func noteReturn() {
    if databasePage?.isWithApp == true { databasePage?.isTaken = true }
    for index in zonePages.indices where zonePages[index].isWithApp {
      zonePages[index].isTaken = true
    }
  }

  /// The fault in the tokens' changes since the last call; `nil` for none.
  mutating func fault(in state: SyncState) -> String? {
    if state.databaseToken != databaseToken {
      databaseToken = state.databaseToken
      if let token = databaseToken, databasePage?.token != token || databasePage?.isTaken != true {
        return "the database token moved before the app had the page"
      }
    }
    guard state.zoneTokens != zoneTokens else { return nil }
    defer { zoneTokens = state.zoneTokens }
    for zone in state.zoneTokens.keys.sorted() {
      guard let token = state.zoneTokens[zone], token != zoneTokens[zone] else { continue }
      guard let index = zonePages.firstIndex(where: { $0.token == token && $0.zone?.zone == zone }),
        zonePages[...index].allSatisfy(\.isTaken)
      else { return "the token of \(zone.name) moved before the app had the page" }
      zonePages.removeSubrange(..<index)
    }
    return nil
  }
}
