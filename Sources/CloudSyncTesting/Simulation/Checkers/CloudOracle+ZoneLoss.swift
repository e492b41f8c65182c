import CloudProtocol
import Records

/// I21, on the server: a zone is said to be gone for the reason it is gone for, in the feed and in
/// the answers to those who write to it.
extension CloudOracle {
  func judgeListing(_ deletion: ZoneDeletion, of zone: Int, account: Int) {
    let model = databases[account - 1].zones[zone]
    if model.isLive || model.deletion != deletion.reason {
      findings.report("I21", "\(deletion.zone.name) is said to be gone for another reason")
    }
  }

  func judgeZoneError(_ error: CloudError, _ zone: Int, _ account: Int) {
    let model = databases[account - 1].zones[zone]
    switch error.code {
    case .zoneNotFound:
      if model.isLive || model.deletion == .purged {
        findings.report("I21", "\(layout.zones[zone].name) is said not to be there")
      }
      if error.userDidResetEncryptedData != (model.deletion == .encryptedDataReset) {
        findings.report("I21", "\(layout.zones[zone].name): a reset is reported wrongly")
      }
    case .userDeletedZone:
      if model.deletion != .purged || model.isLive {
        findings.report("I21", "\(layout.zones[zone].name) is said to be purged and is not")
      }
    default: break
    }
  }
}
